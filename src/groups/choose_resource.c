/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/choose_resource.h"

#include "base/fail.h"
#include "data/domains.h"
#include "data/enter_domain.h"
#include "data/staging.h"
#include "groups/execute_command.h"
#include "groups/kernel_forms.h"
#include "groups/pointer_access.h"
#include "groups/weigh_data.h"
#include "port/likely.h"
#include "submission/pending.h"
#include "submission/queue.h"

/* The task that a policy sees of a command group, borrowed while it chooses. */
typedef struct look {
    dynsel_task task;
    dynsel_requirement requirements[CONFIG_DYNSEL_MAX_REQUIREMENTS];
    dynsel_task_form forms[CONFIG_DYNSEL_MAX_RESOURCES + 1]; /* excluded backends */
    uint32_t excluded[DYNSEL_EXCLUDED_WORDS];
    dynsel_data_outlook data;
#if CONFIG_DYNSEL_RESOURCE_SETS
    uint32_t resources; /* how many the policy had */
#endif
    bool without_ranges; /* a backend is excluded only because of the ranges */
} look;

/* Nobody looked whether the chosen resource can run the group: it was added meanwhile. */
static inline bool came_meanwhile(const look *seen, const dynsel_slot *slot)
{
#if CONFIG_DYNSEL_RESOURCE_SETS
    return slot->selection.index >= seen->resources;
#else
    (void)seen;
    (void)slot;
    return false;
#endif
}

static bool has_form(const dynsel_backend *backend, const dynsel_command *command)
{
    switch (command->kind) {
    case DYNSEL_COMMAND_KERNEL:
        return dynsel_kernel_has_form_for(command->kernel, backend);
    case DYNSEL_COMMAND_HOST_TASK:
        return backend->ops->memory == NULL;
    default:
        return true;
    }
}

static DYNSEL_ASIDE bool may_be_staged(const dynsel_handler *group, const dynsel_memory_ops *memory)
{
    return group->only_on_host == NULL && memory->write_back != NULL &&
           dynsel_staging_need_of(group->uses) == DYNSEL_STAGING_FITS;
}

/* Fails because of the ranges, on behalf of `function`. */
DYNSEL_RARE static dynsel_status refuse_ranges(const dynsel_handler *group, const char *function)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    if (group->only_on_host != NULL) {
        return dynsel_fail(&(dynsel_error){
            .status = DYNSEL_E_UNSUPPORTED,
            .function = DYNSEL_TEXT(function),
            .subject = DYNSEL_TEXT(group->only_on_host),
            .detail = DYNSEL_TEXT("a range is transformed by it, and it has no form in OpenCL C: "
                                  "declare it with DYNSEL_TRANSFORM_ITERATOR, or give the policy a "
                                  "resource of the host, and the kernel a C function"),
        });
    }
    switch (dynsel_staging_need_of(group->uses)) {
    case DYNSEL_STAGING_TOO_MANY:
        return DYNSEL_FAIL_IN(
            function, DYNSEL_E_FULL,
            DYNSEL_OPTION(STAGING_COUNT,
                          "and what is copied for this command group needs {} staging buffers: set "
                          "it to as many, or let the host do the work"),
            group->uses->staged_count);
    case DYNSEL_STAGING_TOO_LARGE:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_FULL,
                              DYNSEL_OPTION(STAGING_BYTES,
                                            "and what is copied for this command group needs {}: "
                                            "set it to that or more, or let the host do the work"),
                              dynsel_staging_bytes_of(group->uses));
    case DYNSEL_STAGING_FITS:
    default:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_UNSUPPORTED,
                              "a range cannot be staged: the backend has no `write_back`", 0);
    }
}

static inline bool can_run(look *seen, const dynsel_handler *group, const dynsel_backend *backend)
{
    if (!has_form(backend, &group->command)) {
        return false;
    }
    /* in the host's memory ranges need no staging */
    if (DYNSEL_LIKELY(group->uses->staged_count == 0 && group->only_on_host == NULL) ||
        backend->ops->memory == NULL || may_be_staged(group, backend->ops->memory)) {
        return true;
    }
    seen->without_ranges = true;
    return false;
}

/* Lists the backends that cannot run the group. Resources of one backend are usually adjacent; a
 * backend that is listed twice does no harm. */
static inline void find_forms(look *seen, const dynsel_handler *group, const dynsel_policy *policy)
{
    const dynsel_backend *last = NULL;
    size_t count = 0;
    seen->without_ranges = false;
    const uint32_t resources = dynsel_policy_count(policy);
#if CONFIG_DYNSEL_RESOURCE_SETS
    seen->resources = resources;
#endif
    for (uint32_t i = 0; i < resources; i++) {
        const dynsel_backend *backend = policy->resources[i].backend;
        if (backend != last && !can_run(seen, group, backend)) {
            seen->forms[count++] = (dynsel_task_form){.backend = backend, .function = NULL};
        }
        last = backend;
    }
    seen->task.forms = seen->forms;
    seen->task.form_count = count;
}

/* Excludes resources that cannot access the pointers. The id differs for each set of them, so that
 * a policy learns such tasks separately. */
static DYNSEL_ASIDE void exclude_resources(look *seen, const dynsel_handler *group,
                                           const dynsel_policy *policy)
{
    if (!dynsel_pointers_exclude(group, policy, seen->excluded)) {
        return;
    }
    seen->task.excluded = seen->excluded;
    seen->forms[seen->task.form_count++] =
        (dynsel_task_form){.backend = NULL, .function = dynsel_group_run};
    for (uint32_t i = 0; i < DYNSEL_EXCLUDED_WORDS && group->id == 0; i++) {
        seen->task.id = (seen->task.id ^ seen->excluded[i]) * 0x9e3779b1u | 1u;
    }
}

/* The recorded accessors may no longer exist, so each use gets a constant one of the same mode. */
static inline void find_requirements(look *seen, const dynsel_handler *group)
{
    enum { READS = 1, WRITES = 2 };
    static const dynsel_accessor needed[] = {
        [0] = {.mode = DYNSEL_ACCESS_DISCARD_WRITE, .placeholder = true},
        [READS] = {.mode = DYNSEL_ACCESS_READ, .placeholder = true},
        [WRITES] = {.mode = DYNSEL_ACCESS_DISCARD_WRITE, .placeholder = true},
        [READS | WRITES] = {.mode = DYNSEL_ACCESS_READ_WRITE, .placeholder = true}};
    for (uint32_t i = 0; i < group->uses->count; i++) {
        const dynsel_use *use = &group->uses->each[i];
        const unsigned how = (use->reads ? READS : 0u) | (use->writes ? WRITES : 0u);
        seen->requirements[i].accessor = &needed[how];
        seen->requirements[i].buffer.token = use->token;
    }
    seen->task.requirements = seen->requirements;
    seen->task.requirement_count = group->uses->count;
}

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
/* How much work a command is, if the group function did not say it. */
static uint64_t amount_of(const dynsel_handler *group)
{
    const dynsel_command *command = &group->command;
    switch (command->kind) {
    case DYNSEL_COMMAND_KERNEL:
        return dynsel_range_count(&command->launch.global);
    case DYNSEL_COMMAND_COPY:
    case DYNSEL_COMMAND_FILL:
        return (uint64_t)command->to_box.size[0] * command->to_box.size[1] *
               command->to_box.size[2];
    default:
        return 0;
    }
}
#endif

static inline void look_at(look *seen, dynsel_handler *group, const dynsel_policy *policy)
{
    seen->task.function = dynsel_group_run;
    seen->task.args = group;
    group->uses->kind = dynsel_group_id(group);
    seen->task.id = group->uses->kind;
    seen->task.id_of_address = !dynsel_group_id_is_stable(group);
#if CONFIG_DYNSEL_ASPECTS
    const bool has_kernel = group->command.kind == DYNSEL_COMMAND_KERNEL;
    seen->task.aspects = group->aspects | (has_kernel ? group->command.kernel->aspects : 0);
#endif
#if CONFIG_DYNSEL_TIME_LIMITS
    seen->task.limit_ns = group->limit_ns;
#endif
    seen->task.key_words = group->key_words;
    seen->task.key_word_count = group->key_word_count;
    find_forms(seen, group, policy);
    find_requirements(seen, group);
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    seen->task.amount = group->has_amount ? group->amount : amount_of(group);
#endif
    seen->task.data = NULL;
    if (!DYNSEL_LIKELY(!policy->ops->weighs_data) && !dynsel_policy_is_settled(policy)) {
        dynsel_weigh_data(group, policy, &seen->data);
        seen->task.data = &seen->data;
    }
    seen->task.excluded = NULL;
    if (!DYNSEL_LIKELY(!group->has_pointers)) {
        exclude_resources(seen, group, policy);
    }
}

/* Replaces the error where no resource can run the group because of its ranges or pointers, so that
 * the text names the cause. */
static inline dynsel_status refined(dynsel_status status, const look *seen,
                                    const dynsel_handler *group, const dynsel_request *request)
{
    if (!DYNSEL_LIKELY(status != DYNSEL_E_UNSUPPORTED || !seen->without_ranges)) {
        return refuse_ranges(group, request->options->function);
    }
    return DYNSEL_LIKELY(status != DYNSEL_E_INVALID || seen->task.excluded == NULL)
               ? status
               : dynsel_pointers_refuse(group, request->policy, request->options->function);
}

#if CONFIG_DYNSEL_TRACE
/* For the trace: which buffers the group uses. */
static void trace_uses(const dynsel_handler *group, const dynsel_selection *selection)
{
    enum { NEEDS = 1, WRITES = 2 };
    for (uint32_t i = 0; i < group->uses->count && dynsel_traced_is_on(selection); i++) {
        const dynsel_use *use = &group->uses->each[i];
        const uint32_t how = (use->reads ? NEEDS : 0u) | (use->writes ? WRITES : 0u);
        dynsel_traced_put(DYNSEL_TRACE_USE, selection, dynsel_trace_pair(use->token, how),
                          use->record->bytes);
    }
}
#else
static void trace_uses(const dynsel_handler *group, const dynsel_selection *selection)
{
    (void)group;
    (void)selection;
}
#endif

dynsel_status dynsel_choose_resource(dynsel_handler *group, dynsel_policy *policy,
                                     const dynsel_submit_options *options)
{
    look seen;
    if (!DYNSEL_LIKELY(!group->has_pointers)) {
        dynsel_pointers_ref(group);
    }
    look_at(&seen, group, policy);
    dynsel_traced_kind(&seen.task, group->command.kind == DYNSEL_COMMAND_KERNEL
                                       ? group->command.kernel->name
                                       : NULL);
    const dynsel_request request = {.options = options, .policy = policy, .task = &seen.task};
    dynsel_slot *const slot = dynsel_slot_of(group);
    dynsel_status status = dynsel_pending_choose(&request, slot);
    while (status == DYNSEL_OK && came_meanwhile(&seen, slot)) {
        dynsel_pending_withdraw(slot);
        look_at(&seen, group, policy);
        status = dynsel_pending_choose(&request, slot);
    }
    group->end_ns = seen.task.data != NULL ? seen.data.end_ns : 0;
    group->expected_ns = seen.task.data != NULL ? seen.data.expected_ns : 0;
    if (status == DYNSEL_OK) {
        trace_uses(group, &slot->selection);
    }
    return refined(status, &seen, group, &request);
}

dynsel_status dynsel_choose_resource_again(dynsel_handler *group)
{
    static const dynsel_submit_options options = {
        .function = DYNSEL_TEXT("dynsel_submit_command_group"), .deadline_ns = DYNSEL_DO_NOT_WAIT};
    dynsel_slot *slot = dynsel_slot_of(group);
    dynsel_policy *policy = slot->selection.policy;
    look seen;
    dynsel_status status = DYNSEL_OK;
    const dynsel_request request = {.options = &options, .policy = policy, .task = &seen.task};
    do {
        look_at(&seen, group, policy);
        status = dynsel_pending_choose_again(&request, slot);
    } while (status == DYNSEL_OK && came_meanwhile(&seen, slot));
    return refined(status, &seen, group, &request);
}

#if CONFIG_DYNSEL_REPEAT
/* As exclude_resources(). */
static void exclude_first(look *seen, uint32_t index)
{
    for (uint32_t i = 0; i < DYNSEL_EXCLUDED_WORDS; i++) {
        seen->excluded[i] = 0;
    }
    seen->excluded[index / 32] = 1u << index % 32;
    seen->task.excluded = seen->excluded;
    seen->forms[seen->task.form_count++] =
        (dynsel_task_form){.backend = NULL, .function = dynsel_group_run};
    seen->task.id = (seen->task.id ^ (index + 1) * 0x9e3779b1u) | 1u;
}

dynsel_status dynsel_choose_resource_elsewhere(dynsel_handler *group, dynsel_slot *second)
{
    static const dynsel_submit_options options = {
        .function = DYNSEL_TEXT("dynsel_submit_command_group"), .deadline_ns = DYNSEL_DO_NOT_WAIT};
    const dynsel_selection *const first = &dynsel_slot_of(group)->selection;
    look seen;
    look_at(&seen, group, first->policy);
    exclude_first(&seen, first->index);
    const dynsel_request request = {
        .options = &options, .policy = first->policy, .task = &seen.task};
    const dynsel_status status = dynsel_pending_choose_now(&request, second);
    if (status == DYNSEL_OK && came_meanwhile(&seen, second)) {
        dynsel_pending_withdraw(second);
        return DYNSEL_E_AGAIN;
    }
    return status;
}
#endif

/* In the host's memory, because nothing is moved, and behind what is over only. */
DYNSEL_RARE static void take_no_domain(dynsel_uses *uses)
{
    uses->domain = DYNSEL_HOST_DOMAIN;
    uses->in_order = false;
    uses->obstacle = 0;
}

enum { ASKED = 1, ASKED_IN_ORDER = 2 }; /* dynsel_queue.domain_asked */

/* The backend is asked once: its answer is always the same. */
DYNSEL_RARE static void ask_for_domain(dynsel_queue *queue, const dynsel_slot *slot)
{
    const dynsel_domain asked = dynsel_domain_ask(slot->work.where->backend, slot->work.own);
    queue->domain_number = asked.number;
    dynsel_word_store_relaxed(&queue->domain_asked, asked.in_order ? ASKED_IN_ORDER : ASKED);
}

dynsel_status dynsel_take_choice(dynsel_handler *group, const dynsel_slot *slot)
{
    dynsel_uses *const uses = group->uses;
    dynsel_queue *const queue = dynsel_queue_of(slot);
    uses->own = slot->work.own;
    uses->queue = queue;
    if (dynsel_group_is_empty(group)) {
        take_no_domain(uses);
        return DYNSEL_OK;
    }
    if (!DYNSEL_LIKELY(dynsel_word_load_relaxed(&queue->domain_asked) != 0)) {
        ask_for_domain(queue, slot);
    }
    uses->in_order = dynsel_word_load_relaxed(&queue->domain_asked) == ASKED_IN_ORDER;
    return dynsel_domain_enter(slot->work.where->backend, uses->own, queue->domain_number,
                               &uses->domain);
}
