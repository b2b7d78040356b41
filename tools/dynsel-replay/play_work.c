/* SPDX-License-Identifier: Apache-2.0 */
#include "play_work.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

enum { NOT_SUBMITTED, SUBMITTED, HELD, OVER }; /* states of pieces; HELD: it has a submission */

enum { NEEDS = 1, WRITES = 2, MOST_ITEMS = 1 << 30 };

/* The functions of tasks get no more than this. */
static play_work *playing;
static uint32_t piece_now; /* of the submit that is running */

static void spend(uint32_t number)
{
    const program_piece *piece = &playing->it->pieces[number];
    const dynsel_simulated_device *device = dynsel_simulated_running();
    const play_resource *resource = &playing->how->resources[device - playing->devices];
    bool guessed = false;
    const double run_ns = estimates_run_ns(playing->times, piece, resource->like, &guessed);
    playing->guesses += guessed ? 1 : 0;
    const bool is_idle = device->free_ns <= dynsel_now_ns();
    const uint64_t begin_ns = is_idle ? playing->times->devices[resource->like].begin_ns : 0;
    playing->begins_ns[device - playing->devices] += begin_ns;
    dynsel_simulated_spend((uint64_t)(run_ns / resource->speed + 0.5) + begin_ns);
}

static dynsel_status run_task(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    spend((uint32_t)((const program_piece *)args - playing->it->pieces));
    return DYNSEL_OK;
}

static dynsel_status run_kernel(const dynsel_launch *launch)
{
    spend(DYNSEL_LAUNCH_VALUE(launch, 0, uint32_t));
    return DYNSEL_OK;
}

static const dynsel_kernel kernel = {.name = "played", .function = run_kernel, .id = 1};

/* Each piece where it ran. */
static dynsel_status choose_as_recorded(dynsel_policy *policy, const dynsel_task *task,
                                        dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = playing->it->pieces[piece_now].resource;
    return DYNSEL_OK;
}

static const dynsel_policy_ops as_recorded = {.name = "as recorded",
                                              .try_select = choose_as_recorded};

static void make_device(play_work *work, uint32_t index)
{
    const play_resource *resource = &work->how->resources[index];
    const recorded_resource *recorded = &work->it->policy->resources[resource->like];
    const estimates_device *times = &work->times->devices[resource->like];
    const bool is_queue = (recorded->nature & DYNSEL_TRACE_HAS_MEMORY) != 0;
    work->devices[index] = (dynsel_simulated_device){
        .name = resource->name,
        .kind = (recorded->nature & DYNSEL_TRACE_IN_CALLER) != 0 ? DYNSEL_SIMULATED_CALLER
                : is_queue                                       ? DYNSEL_SIMULATED_QUEUE
                                                                 : DYNSEL_SIMULATED_THREAD,
        .aspects = (dynsel_aspect_set)recorded->aspects,
        .memory = is_queue ? index + 1 : 0,
        .threads = recorded->processors,
        .submit_ns = times->submit_ns,
        .latency_ns = resource->has_latency ? resource->latency_ns : times->latency_ns,
        .transfer_ns = times->transfer_ns,
        .mib_ns = times->mib_ns};
}

static int make_policy(play_work *work)
{
    dynsel_resource list[CONFIG_DYNSEL_MAX_RESOURCES];
    for (uint32_t i = 0; i < work->how->count; i++) {
        make_device(work, i);
        list[i] = dynsel_simulated_resource(&work->devices[i]);
    }
    const dynsel_options options = {.resources = list, .count = work->how->count};
    const dynsel_status status =
        work->how->as_recorded
            ? dynsel_policy_init(&work->policy->policy, &as_recorded, &options)
            : machine_init_policy(work->policy, work->how->policy, &options, work->how->option);
    if (status != DYNSEL_OK) {
        char text[256];
        (void)dynsel_error_text(NULL, text, sizeof text);
        return log_wrong("%s: the policy cannot be made: %s", work->how->name, text);
    }
    return 0;
}

static uint32_t id_of(const recorded_kind *kind)
{
    const uint32_t id =
        kind != NULL && (kind->flags & DYNSEL_TRACE_HAS_ID) != 0 ? (uint32_t)kind->identity : 0;
    return id != 0 ? id : kind != NULL ? kind->kind : 1;
}

/* NULL: it is not known. */
static dynsel_task task_of(const recorded_kind *kind)
{
    dynsel_task task = {.function = run_task, .id = id_of(kind)};
    if (kind != NULL) {
        task.key_words = kind->key_words;
        task.key_word_count = kind->key_word_count;
        task.aspects = (dynsel_aspect_set)kind->needs;
    }
    return task;
}

/* For the trace of the simulated run. */
static void name_kinds(const recording *all)
{
    for (size_t i = 0; i < all->kind_room; i++) {
        if (all->kinds[i].is_known && all->kinds[i].name[0] != '\0') {
            const dynsel_task task = task_of(&all->kinds[i]);
            dynsel_trace_name(&task, all->kinds[i].name);
        }
    }
}

int play_work_begin(play_work *work, const program *it, const estimates *times,
                    const play_case *how)
{
    *work = (play_work){.it = it, .times = times, .how = how};
    playing = work;
    work->memory_bytes = 1;
    for (size_t i = 0; i < it->buffer_count; i++) {
        work->memory_bytes = it->buffers[i].bytes > work->memory_bytes
                                 ? (size_t)it->buffers[i].bytes
                                 : work->memory_bytes;
    }
    work->policy = calloc(1, sizeof *work->policy);
    work->submissions = calloc((size_t)it->all->piece_count + 1, sizeof *work->submissions);
    work->states = calloc((size_t)it->all->piece_count + 1, 1);
    work->buffers = calloc(it->buffer_count + 1, sizeof *work->buffers);
    work->memory = calloc(1, work->memory_bytes); /* never touched */
    if (work->policy == NULL || work->submissions == NULL || work->states == NULL ||
        work->buffers == NULL || work->memory == NULL) {
        return log_wrong("there is not enough memory");
    }
    if (how->trace_path != NULL) {
        name_kinds(it->all);
    }
    return make_policy(work);
}

/* The resources of the case on which the piece has to run, if it cannot run on all. */
static void limit(const play_work *work, const program_piece *piece, dynsel_task *task,
                  dynsel_task_form *form, uint32_t *excluded)
{
    if (!piece->has_limits) {
        return;
    }
    for (uint32_t i = 0; i < work->how->count; i++) {
        if ((piece->allowed >> work->how->resources[i].like & 1) == 0) {
            excluded[i / 32] |= 1u << i % 32;
        }
    }
    *form = (dynsel_task_form){.function = run_task};
    task->forms = form;
    task->form_count = 1;
    task->excluded = excluded;
}

static dynsel_buffer buffer_of(play_work *work, uint32_t number)
{
    dynsel_buffer *buffer = &work->buffers[number];
    if (buffer->token == 0) {
        const uint64_t bytes = work->it->buffers[number].bytes;
        const dynsel_status status =
            dynsel_buffer_init(buffer, work->memory, 1, DYNSEL_RANGE(bytes != 0 ? bytes : 1));
        if (status != DYNSEL_OK) {
            *buffer = (dynsel_buffer){.token = 0};
        }
    }
    return *buffer;
}

static dynsel_access_mode mode_of(uint32_t how)
{
    if ((how & WRITES) == 0) {
        return DYNSEL_ACCESS_READ;
    }
    return (how & NEEDS) != 0 ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_DISCARD_WRITE;
}

static dynsel_status record_group(dynsel_handler *handler, void *args)
{
    play_work *work = args;
    const program_piece *piece = &work->it->pieces[piece_now];
    const recorded_kind *kind = recording_kind(work->it->all, piece->kind);
    dynsel_set_arg_value(handler, 0, &piece_now, sizeof piece_now);
    for (uint32_t i = 0; i < piece->use_count; i++) {
        const program_use *use = &work->it->uses[piece->first_use + i];
        dynsel_accessor accessor;
        dynsel_get_access(handler, buffer_of(work, use->buffer), mode_of(use->how),
                          DYNSEL_MEMORY_GLOBAL, &accessor);
    }
    dynsel_set_key(handler, id_of(kind), kind != NULL ? kind->key_words : NULL,
                   kind != NULL ? kind->key_word_count : 0);
    dynsel_set_amount(handler, piece->amount);
    if (kind != NULL && kind->needs != 0) {
        dynsel_need_aspects(handler, (dynsel_aspect_set)kind->needs);
    }
    const uint64_t items = piece->items != 0 && piece->items < MOST_ITEMS ? piece->items : 1;
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(items), NULL, NULL);
}

static dynsel_status submit_task(play_work *work, uint32_t number, dynsel_submission *submission)
{
    const program_piece *piece = &work->it->pieces[number];
    dynsel_task_form form;
    uint32_t excluded[(CONFIG_DYNSEL_MAX_RESOURCES + 31) / 32] = {0};
    dynsel_task task = task_of(recording_kind(work->it->all, piece->kind));
    task.args = &work->it->pieces[number];
    task.amount = piece->amount;
    limit(work, piece, &task, &form, excluded);
    return dynsel_submit(&work->policy->policy, &task, submission);
}

static void collect(play_work *work, uint32_t number)
{
    const dynsel_status status = dynsel_wait(&work->submissions[number]);
    work->failed += status != DYNSEL_OK ? 1 : 0;
    work->states[number] = OVER;
}

/* Work that the recorded run did in the caller needed no place among the work in flight. */
static bool make_room(play_work *work)
{
    while (work->oldest < work->it->all->piece_count) {
        if (work->states[work->oldest] == HELD) {
            collect(work, work->oldest);
            return true;
        }
        work->oldest++;
    }
    return false;
}

/* On its own resource a piece takes what it took: the first one there may have been compiled. */
static void set_submit_times(play_work *work, const program_piece *piece)
{
    for (uint32_t i = 0; i < work->how->count; i++) {
        const uint32_t like = work->how->resources[i].like;
        work->devices[i].submit_ns = like == piece->resource && piece->submit_ns != UINT64_MAX
                                         ? piece->submit_ns
                                         : work->times->devices[like].submit_ns;
    }
}

void play_work_submit(play_work *work, uint32_t number)
{
    const program_piece *piece = &work->it->pieces[number];
    set_submit_times(work, piece);
    dynsel_submission *submission = piece->is_waited ? &work->submissions[number] : NULL;
    dynsel_status status = DYNSEL_E_FULL;
    bool again = true;
    work->oldest = number < work->oldest ? number : work->oldest;
    while (again) {
        piece_now = number;
        status = piece->is_group ? dynsel_submit_command_group(&work->policy->policy, record_group,
                                                               work, submission)
                                 : submit_task(work, number, submission);
        again = status == DYNSEL_E_FULL && make_room(work);
    }
    work->failed += status != DYNSEL_OK ? 1 : 0;
    work->states[number] = status != DYNSEL_OK ? OVER : submission != NULL ? HELD : SUBMITTED;
}

void play_work_access(play_work *work, uint32_t number)
{
    const program_piece *piece = &work->it->pieces[number];
    for (uint32_t i = 0; i < piece->use_count; i++) {
        const program_use *use = &work->it->uses[piece->first_use + i];
        dynsel_host_accessor accessor = {.data = NULL};
        piece_now = number;
        dynsel_status status =
            dynsel_host_accessor_open(&accessor, buffer_of(work, use->buffer), mode_of(use->how));
        if (status == DYNSEL_OK) {
            status = dynsel_host_accessor_close(&accessor);
        }
        work->failed += status != DYNSEL_OK ? 1 : 0;
    }
}

/* The program knew that nothing uses it any more. */
void play_work_end_buffer(play_work *work, uint32_t number)
{
    dynsel_buffer *buffer = &work->buffers[number];
    if (buffer->token == 0) {
        return;
    }
    dynsel_status status = dynsel_buffer_deinit(buffer);
    if (status == DYNSEL_E_BUSY) {
        play_work_wait_for_all(work);
        status = dynsel_buffer_deinit(buffer);
    }
    work->failed += status != DYNSEL_OK ? 1 : 0;
}

bool play_work_is_over(play_work *work, uint32_t number)
{
    if (work->states[number] == HELD &&
        dynsel_submission_poll(&work->submissions[number]) != DYNSEL_E_AGAIN) {
        collect(work, number);
    }
    return work->states[number] == OVER;
}

void play_work_wait(play_work *work, uint32_t number)
{
    if (work->states[number] == HELD) {
        collect(work, number);
    }
}

void play_work_wait_for_all(play_work *work)
{
    const dynsel_status status =
        dynsel_wait_group(dynsel_get_submission_group(&work->policy->policy));
    (void)status; /* failures are counted where work is collected */
}

bool play_work_is_all_over(play_work *work)
{
    const dynsel_status status =
        dynsel_wait_group_for(dynsel_get_submission_group(&work->policy->policy), 0);
    return status != DYNSEL_E_TIMEOUT;
}

void play_work_end(play_work *work, play_result *result)
{
    play_work_wait_for_all(work);
    work->oldest = 0;
    while (make_room(work)) {
    }
    for (size_t i = 0; i < work->it->buffer_count; i++) {
        play_work_end_buffer(work, (uint32_t)i);
    }
    const dynsel_status status = dynsel_policy_deinit(&work->policy->policy);
    (void)status; /* nothing is in flight */
    for (uint32_t i = 0; i < work->how->count; i++) {
        result->pieces[i] = work->devices[i].pieces;
        result->busy_ns[i] = work->devices[i].busy_ns - work->begins_ns[i];
        result->bytes += work->devices[i].bytes;
    }
    result->guesses = work->guesses;
    result->failed = work->failed;
    free(work->policy);
    free(work->submissions);
    free(work->states);
    free(work->buffers);
    free(work->memory);
}
