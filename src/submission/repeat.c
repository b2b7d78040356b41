/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/repeat.h"

#include <string.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "submission/finish.h"
#include "submission/repeat_table.h"
#include "submission/shadow_check.h"
#include "submission/start.h"

static dynsel_status check(const dynsel_request *request)
{
    const dynsel_repeat *const repeat = request->task->repeat;
    if (repeat->overwritten == NULL && repeat->overwritten_bytes != 0) {
        return DYNSEL_FAIL_IN(request->options->function, DYNSEL_E_INVALID,
                              "the {} bytes that repeatable work overwrites are at NULL",
                              repeat->overwritten_bytes);
    }
#if CONFIG_DYNSEL_SHADOW_CHECK
    if (repeat->check_one_in != 0 && (repeat->results == NULL || repeat->results_bytes == 0 ||
                                      repeat->results_bytes > CONFIG_DYNSEL_KEPT_BYTES)) {
        return DYNSEL_FAIL_IN(
            request->options->function, DYNSEL_E_INVALID,
            DYNSEL_OPTION(KEPT_BYTES,
                          "and work that is checked names {} bytes of results: name at least one, "
                          "and set it to as many or name a part of them"),
            repeat->results_bytes);
    }
#endif
    if (repeat->overwritten_bytes > CONFIG_DYNSEL_KEPT_BYTES) {
        return DYNSEL_FAIL_IN(request->options->function, DYNSEL_E_INVALID,
                              DYNSEL_OPTION(KEPT_BYTES,
                                            "and repeatable work overwrites {}: write the "
                                            "results elsewhere, or set it to as many"),
                              repeat->overwritten_bytes);
    }
    return DYNSEL_OK;
}

/* Borrowed memory of the task is the program's until the work is over. */
static void copy_task(dynsel_repeat_record *record, const dynsel_task *task)
{
    record->input = *task->repeat;
    record->task = *task;
    record->task.repeat = NULL;
    if (task->form_count == 0) { /* only tasks with forms exclude a resource */
        record->form = (dynsel_task_form){.backend = NULL, .function = task->function};
        record->task.forms = &record->form;
        record->task.form_count = 1;
    }
}

/* Claims what a second run needs. False: no slot is free, or not so many blocks. */
static bool arm(dynsel_slot *slot, const dynsel_policy *policy, uint32_t block_count)
{
    dynsel_repeat_record *const record = &dynsel_repeats[dynsel_slot_number(slot) - 1];
    if (!dynsel_kept_take(block_count, &record->kept)) {
        return false;
    }
    dynsel_slot *const second = dynsel_slot_claim(policy);
    if (second == NULL) {
        dynsel_kept_give_back(record->kept);
        return false;
    }
    slot->work.run = DYNSEL_FIRST_RUN;
    second->work.run = DYNSEL_SECOND_RUN;
    record->refused = 0;
    record->input = (dynsel_repeat){.overwritten = NULL};
    dynsel_shadow_disarm(record);
    dynsel_repeat_join(dynsel_slot_number(slot), dynsel_slot_number(second));
    dynsel_word_store_relaxed(&record->stage, DYNSEL_REPEAT_ARMED);
    return true;
}

static bool arm_task(dynsel_slot *slot, const dynsel_request *request)
{
    dynsel_repeat_record *const record = &dynsel_repeats[dynsel_slot_number(slot) - 1];
    const bool keeps = request->task->repeat->overwritten_bytes != 0;
    uint32_t kept_count = 0;
    if (keeps) {
        kept_count = 1;
    }
    const bool is_due = dynsel_shadow_is_due(request->task->repeat);
    const bool is_checked =
        is_due && arm(slot, request->policy, kept_count + DYNSEL_SHADOW_RESULTS);
    if (!is_checked && !arm(slot, request->policy, kept_count)) {
        return false;
    }
    if (is_checked) {
        dynsel_shadow_arm(record);
    } else if (is_due) {
        dynsel_shadow_count_unchecked();
    } else {
        /* as other repeatable work */
    }
    copy_task(record, request->task);
    if (keeps) {
        (void)memcpy(dynsel_kept_memory(record->kept, 0), record->input.overwritten,
                     record->input.overwritten_bytes);
    }
    return true;
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
bool dynsel_repeat_arm(dynsel_slot *slot, const dynsel_policy *policy, uint32_t block_count)
{
    return arm(slot, policy, block_count);
}

dynsel_kept_blocks dynsel_repeat_kept(const dynsel_slot *slot)
{
    return dynsel_repeats[dynsel_slot_number(slot) - 1].kept;
}
#endif

static dynsel_status refuse(const dynsel_request *request, dynsel_status status)
{
    return DYNSEL_FAIL_IN(
        request->options->function, status,
        DYNSEL_OPTION_IS(MAX_IN_FLIGHT) " and " DYNSEL_OPTION(
            KEPT_COUNT,
            "and no second slot is free for repeatable work, or no block of memory that keeps its "
            "input: wait for submissions, or set them to what will be in use at the same time"),
        0);
}

dynsel_status dynsel_repeat_claim_both(const dynsel_request *request, dynsel_slot **slot)
{
    dynsel_status status = check(request);
    for (uint32_t round = 0; status == DYNSEL_OK; round++) {
        status = dynsel_in_flight_claim(request, slot);
        if (status != DYNSEL_OK || arm_task(*slot, request)) {
            break;
        }
        dynsel_slot_unclaim(*slot);
        *slot = NULL;
        status = dynsel_in_flight_can_free(request->policy, 2)
                     ? dynsel_wait_for_resource(request->options, round)
                     : DYNSEL_E_AGAIN;
        if (status != DYNSEL_OK) {
            return refuse(request, status == DYNSEL_E_TIMEOUT ? status : DYNSEL_E_FULL);
        }
    }
    return status;
}

/* Puts what the first run may have overwritten back. */
static void restore_input(const dynsel_repeat_record *record)
{
    if (record->input.overwritten_bytes != 0) {
        (void)memcpy(record->input.overwritten, dynsel_kept_memory(record->kept, 0),
                     record->input.overwritten_bytes);
    }
}

/* The task again, for resources without an earlier run; `index` had the last. Policies learn it
 * separately. */
static const dynsel_task *task_elsewhere(dynsel_repeat_record *record, uint32_t index)
{
    const uint32_t bit = 1u << index % 32;
    if (record->task.excluded == NULL) {
        (void)memset(record->excluded, 0, sizeof(record->excluded));
        record->task.excluded = record->excluded;
    }
    if ((record->excluded[index / 32] & bit) == 0) {
        record->excluded[index / 32] |= bit;
        record->task.id = (record->task.id ^ (index + 1) * 0x9e3779b1u) | 1u;
    }
    return &record->task;
}

#if CONFIG_DYNSEL_SHADOW_CHECK

/* Of the run before. Keeps the results of a first run that succeeded. */
static uint32_t last_index(const dynsel_slot *first, dynsel_repeat_record *record)
{
    if (first->work.error.status == DYNSEL_OK) {
        dynsel_shadow_keep_first(record);
    }
    return record->result_count == DYNSEL_SHADOW_RESULTS ? record->second_index
                                                         : first->selection.index;
}

/* The slot of the second run was armed, that of a third is claimed here. NULL: none is free. */
static dynsel_slot *slot_of_next_run(const dynsel_slot *first, dynsel_repeat_record *record)
{
    const uint32_t number = dynsel_slot_number(first);
    if (record->result_count == DYNSEL_SHADOW_RESULTS && !record->has_slot) {
        dynsel_slot *const third = dynsel_slot_claim(first->selection.policy);
        if (third == NULL) {
            return NULL;
        }
        third->work.run = DYNSEL_SECOND_RUN;
        dynsel_repeat_join(number, dynsel_slot_number(third));
        record->has_slot = true;
    }
    return dynsel_slot_at(dynsel_repeat_other(number));
}

#else

static uint32_t last_index(const dynsel_slot *first, const dynsel_repeat_record *record)
{
    (void)record;
    return first->selection.index;
}

static dynsel_slot *slot_of_next_run(const dynsel_slot *first, const dynsel_repeat_record *record)
{
    (void)record;
    return dynsel_slot_at(dynsel_repeat_other(dynsel_slot_number(first)));
}

#endif

/* Chooses another resource and starts the second run there, which may be over then. Does not wait:
 * a wait may be what calls it. */
static dynsel_status start_second(dynsel_slot *first, dynsel_slot *second)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    if (dynsel_slot_can_be_pending(first)) {
        return dynsel_pending_operations->run_again(first, second);
    }
#endif
    static const dynsel_submit_options options = {.function = DYNSEL_TEXT("dynsel_submit"),
                                                  .deadline_ns = DYNSEL_DO_NOT_WAIT};
    dynsel_repeat_record *const record = &dynsel_repeats[dynsel_slot_number(first) - 1];
    const dynsel_request request = {.options = &options,
                                    .policy = first->selection.policy,
                                    .task = task_elsewhere(record, last_index(first, record))};
    restore_input(record);
    dynsel_limits_set(second, request.task);
    return dynsel_start_once(&request, &second->work, &second->selection).status;
}

/* The first run has failed, or is checked, and its work is this thread's. A resource may leave
 * between choice and start; a policy may insist on one that has left. */
static void run_again(dynsel_slot *first)
{
    const uint32_t number = dynsel_slot_number(first);
    dynsel_repeat_record *const record = &dynsel_repeats[number - 1];
    dynsel_slot *const second = slot_of_next_run(first, record);
    const dynsel_status status = second != NULL ? start_second(first, second) : DYNSEL_E_AGAIN;
    if (status == DYNSEL_E_AGAIN ||
        (status == DYNSEL_E_OUT_OF_SERVICE &&
         record->refused++ < dynsel_policy_count(first->selection.policy))) {
        dynsel_repeat_enter(number, DYNSEL_REPEAT_READY);
    } else if (status != DYNSEL_OK) {
        record->index = first->selection.index;
        dynsel_slot_unclaim(second);
        dynsel_slot_end_nowhere(first);
    } else {
        if (first->work.error.status != DYNSEL_OK) {
            (void)dynsel_word_add_relaxed(&dynsel_repeats_started, 1);
        }
        record->index = second->selection.index;
        const bool over = !dynsel_work_goes_on(&second->work);
        if (over) {
            dynsel_finish(second->selection.policy, &second->selection, second->work.error.status,
                          dynsel_direct_time(&second->work));
            dynsel_slot_end_second(second);
            dynsel_slot_unclaim(second);
        } else {
            dynsel_in_flight_publish(second, false, false, NULL);
        }
    }
}

/* Between two looks of this thread a slot may get other repeatable work. */
static void start_ready(void)
{
    const uint32_t open = dynsel_slots_open();
    for (uint32_t number = 1; number <= open; number++) {
        uint32_t stage = DYNSEL_REPEAT_READY;
        if (dynsel_repeat_stage(number) == stage &&
            dynsel_word_swap(&dynsel_repeats[number - 1].stage, &stage, DYNSEL_REPEAT_STARTED)) {
            run_again(dynsel_slot_at(number));
        }
    }
}

const dynsel_repeat_ops dynsel_repeat_operations = {.start_ready = start_ready};
