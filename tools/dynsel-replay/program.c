/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

enum { UNIT_NS = 16, FIRST_ROOM = 64, BYTES_BITS = 40 };

/* In which order times are trusted. */
enum { OF_END = 1, OF_RUN = 2, OF_DEVICE = 3 };

static bool add_call(program_thread *thread, program_call call)
{
    if (thread->count == thread->room) {
        const size_t room = thread->room == 0 ? FIRST_ROOM : 2 * thread->room;
        program_call *more = realloc(thread->calls, room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        thread->calls = more;
        thread->room = room;
    }
    thread->calls[thread->count++] = call;
    return true;
}

/* A wait for several pieces contains waits for single ones. */
static bool add_wait(program_thread *thread, program_call call)
{
    while (thread->count != 0 && thread->calls[thread->count - 1].begin_ns >= call.begin_ns &&
           (thread->calls[thread->count - 1].what == PROGRAM_WAIT ||
            thread->calls[thread->count - 1].what == PROGRAM_NOTHING)) {
        thread->count--;
    }
    return add_call(thread, call);
}

/* Returns it->buffer_count: no piece used it. */
static size_t known_buffer(const program *it, uint32_t token)
{
    size_t at = it->buffer_count;
    while (at > 0 && it->buffers[at - 1].token != token) {
        at--;
    }
    return at > 0 ? at - 1 : it->buffer_count;
}

static uint32_t find_buffer(program *it, uint32_t token, uint64_t bytes)
{
    const size_t known = known_buffer(it, token);
    if (known < it->buffer_count) {
        return (uint32_t)known;
    }
    it->buffers[it->buffer_count] = (program_buffer){.token = token, .bytes = bytes};
    return (uint32_t)it->buffer_count++;
}

static bool add_use(program *it, program_piece *piece, const dynsel_trace_record *record)
{
    if (it->use_count == it->use_room) {
        const size_t room = it->use_room == 0 ? FIRST_ROOM : 2 * it->use_room;
        program_use *uses = realloc(it->uses, room * sizeof *uses);
        if (uses != NULL) {
            it->uses = uses;
        }
        program_buffer *buffers =
            uses != NULL ? realloc(it->buffers, room * sizeof *buffers) : NULL;
        if (buffers == NULL) {
            return false;
        }
        it->buffers = buffers;
        it->use_room = room;
    }
    if (piece->use_count == 0) {
        piece->first_use = it->use_count;
    }
    /* other threads' uses may stand between: then the rest is left out */
    if (piece->first_use + piece->use_count == it->use_count) {
        it->uses[it->use_count++] =
            (program_use){.buffer = find_buffer(it, record->words[0], recording_number(record, 2)),
                          .how = record->words[1]};
        piece->use_count++;
    }
    return true;
}

static bool is_of_host(const program *it, const dynsel_trace_record *record)
{
    const recorded_policy *policy = recording_policy(it->all, record->policy);
    return policy != NULL && strcmp(policy->name, "host accessors") == 0;
}

static bool take_choice(program *it, program_thread *thread, const dynsel_trace_record *record,
                        uint64_t now_ns)
{
    program_piece *piece = &it->pieces[record->piece];
    piece->resource = record->resource;
    piece->kind = record->words[0];
    piece->amount = recording_number(record, 2);
    piece->submit_ns = UINT64_MAX;
    return add_call(thread,
                    (program_call){.what = is_of_host(it, record) ? PROGRAM_ACCESS : PROGRAM_SUBMIT,
                                   .piece = record->piece,
                                   .begin_ns = now_ns,
                                   .end_ns = now_ns});
}

static void take_time(program_piece *piece, uint32_t trust, uint64_t run_ns)
{
    if (trust > piece->trust && run_ns != 0) {
        piece->trust = trust;
        piece->run_ns = run_ns;
    }
}

/* The backend took the work, or this thread ran it: if that was in the submit it is part of it. */
static void take_start(program *it, program_thread *thread, const dynsel_trace_record *record,
                       uint64_t since_ns, uint64_t now_ns)
{
    program_piece *piece = &it->pieces[record->piece];
    piece->is_played = true;
    piece->started_ns = piece->started_ns != 0 ? piece->started_ns : now_ns;
    if (record->event == DYNSEL_TRACE_START) {
        piece->submit_ns = now_ns - since_ns;
    } else {
        take_time(piece, OF_RUN, now_ns - since_ns);
        piece->device_begin_ns = since_ns;
        piece->device_end_ns = now_ns;
    }
    program_call *last = thread->count != 0 ? &thread->calls[thread->count - 1] : NULL;
    if (last != NULL && last->what == PROGRAM_SUBMIT && last->piece == record->piece) {
        last->begin_ns = since_ns > last->begin_ns ? since_ns : last->begin_ns;
        last->end_ns = now_ns;
    }
}

static void take_copy(program *it, const dynsel_trace_record *record)
{
    if (record->policy == 0 || record->policy == it->policy_number) {
        it->bytes += recording_number(record, 2) & (((uint64_t)1 << BYTES_BITS) - 1);
    }
}

/* The events of pieces that the library chose a resource for. False: not enough memory. */
static bool take_of_piece(program *it, program_thread *thread, const dynsel_trace_record *record,
                          uint64_t since_ns, uint64_t now_ns)
{
    program_piece *piece = &it->pieces[record->piece];
    switch (record->event) {
    case DYNSEL_TRACE_CANDIDATES:
        piece->has_limits = true;
        piece->allowed = recording_number(record, 2);
        return true;
    case DYNSEL_TRACE_READY:
        piece->items = record->words[3];
        return true;
    case DYNSEL_TRACE_CHOICE:
        return take_choice(it, thread, record, now_ns);
    case DYNSEL_TRACE_USE:
        piece->is_group = true;
        return add_use(it, piece, record);
    case DYNSEL_TRACE_START:
    case DYNSEL_TRACE_RAN:
        take_start(it, thread, record, since_ns, now_ns);
        return true;
    case DYNSEL_TRACE_DEVICE:
        take_time(piece, OF_DEVICE, (uint64_t)record->words[2] * UNIT_NS);
        piece->device_begin_ns = recording_number(record, 0);
        piece->device_end_ns = recording_number(record, 0) + (uint64_t)record->words[2] * UNIT_NS;
        return true;
    case DYNSEL_TRACE_END:
        take_time(piece, OF_END, recording_number(record, 0));
        piece->seen_ns = now_ns;
        return true;
    default:
        return true;
    }
}

/* Waits of the library while an accessor is opened are part of that. */
static bool is_end_of_access(program_thread *thread, uint32_t piece, uint64_t now_ns)
{
    size_t at = thread->count;
    while (at > 0 && (thread->calls[at - 1].what == PROGRAM_WAIT ||
                      thread->calls[at - 1].what == PROGRAM_NOTHING)) {
        at--;
    }
    if (at == 0 || thread->calls[at - 1].what != PROGRAM_ACCESS ||
        thread->calls[at - 1].piece != piece) {
        return false;
    }
    thread->count = at;
    thread->calls[at - 1].end_ns = now_ns;
    return true;
}

static bool take(program *it, const recorded_event *event)
{
    const dynsel_trace_record *record = event->record;
    program_thread *thread = &it->threads[event->ring];
    const uint64_t now_ns = trace_file_ns(&it->all->file, record->ticks);
    const uint64_t since_ns = trace_file_ns(&it->all->file, recording_number(record, 0));
    const program_call wait = {.what = PROGRAM_NOTHING, .begin_ns = since_ns, .end_ns = now_ns};
    program_call call = wait;
    switch (record->event) {
    case DYNSEL_TRACE_WAIT:
        call.what = PROGRAM_WAIT;
        call.piece = record->piece;
        it->pieces[call.piece].waited_ns = since_ns;
        return is_end_of_access(thread, record->piece, now_ns) || add_call(thread, call);
    case DYNSEL_TRACE_END_BUFFER:
        call.piece = (uint32_t)known_buffer(it, record->words[2]);
        call.what = call.piece < it->buffer_count ? PROGRAM_END : PROGRAM_NOTHING;
        return add_wait(thread, call);
    case DYNSEL_TRACE_WAIT_ALL:
        call.what = PROGRAM_WAIT_ALL;
        return add_wait(thread, call);
    case DYNSEL_TRACE_WAIT_SLOT:
        return add_wait(thread, call);
    case DYNSEL_TRACE_COPY:
        take_copy(it, record);
        return record->piece != 0 || add_call(thread, call);
    default:
        return record->policy != it->policy_number && !is_of_host(it, record)
                   ? true
                   : take_of_piece(it, thread, record, since_ns, now_ns);
    }
}

/* Calls about pieces that are not played are left out. */
static void leave_out(program *it, program_thread *thread)
{
    size_t kept = 0;
    for (size_t i = 0; i < thread->count; i++) {
        const program_call *call = &thread->calls[i];
        const bool is_of_piece = call->what == PROGRAM_WAIT || call->what == PROGRAM_SUBMIT;
        program_piece *piece = &it->pieces[call->piece];
        if (!is_of_piece || piece->is_played) {
            piece->is_waited = piece->is_waited || call->what == PROGRAM_WAIT;
            thread->calls[kept++] = *call;
        }
    }
    thread->count = kept;
}

static void sum_up(program *it)
{
    it->begin_ns = UINT64_MAX;
    for (uint32_t ring = 1; ring < it->all->file.ring_count; ring++) {
        const program_thread *thread = &it->threads[ring];
        if (thread->count != 0) {
            const uint64_t begin_ns = thread->calls[0].begin_ns;
            const uint64_t end_ns = thread->calls[thread->count - 1].end_ns;
            it->begin_ns = begin_ns < it->begin_ns ? begin_ns : it->begin_ns;
            it->end_ns = end_ns > it->end_ns ? end_ns : it->end_ns;
        }
    }
    for (uint32_t i = 0; i < it->all->piece_count; i++) {
        const program_piece *piece = &it->pieces[i];
        if (piece->is_played && piece->resource < RECORDING_MOST_RESOURCES) {
            it->totals[piece->resource].pieces++;
            it->totals[piece->resource].busy_ns += piece->run_ns;
            it->end_ns = piece->device_end_ns > it->end_ns ? piece->device_end_ns : it->end_ns;
        }
    }
}

int program_find(const recording *all, uint32_t policy, program *it)
{
    *it = (program){.all = all, .policy_number = policy, .policy = recording_policy(all, policy)};
    it->pieces = calloc((size_t)all->piece_count + 1, sizeof *it->pieces);
    it->threads = calloc(all->file.ring_count, sizeof *it->threads);
    bool enough = it->pieces != NULL && it->threads != NULL;
    for (size_t i = 0; i < all->event_count && enough; i++) {
        enough = take(it, &all->events[i]);
    }
    if (!enough) {
        program_free(it);
        return log_wrong("%s: there is not enough memory for it", all->path);
    }
    for (uint32_t ring = 1; ring < all->file.ring_count; ring++) {
        leave_out(it, &it->threads[ring]);
    }
    sum_up(it);
    if (it->begin_ns >= it->end_ns) {
        program_free(it);
        return log_wrong("%s: no work of policy %u ran in it", all->path, (unsigned)policy);
    }
    return 0;
}

void program_free(program *it)
{
    for (uint32_t ring = 1; it->threads != NULL && ring < it->all->file.ring_count; ring++) {
        free(it->threads[ring].calls);
    }
    free(it->threads);
    free(it->pieces);
    free(it->uses);
    free(it->buffers);
    *it = (program){.all = NULL};
}
