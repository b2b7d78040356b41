/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each recorded thread has a list of calls and a time at which it makes the next one. The process
 * has one thread, which makes the earliest call; where all threads wait, virtual time goes on to
 * the next end of work.
 */
#define _POSIX_C_SOURCE 200809L

#include "play.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "play_work.h"

enum { TRACE_RECORDS_OF_PIECE = 64, LEAST_TRACE_RECORDS = 1 << 16 };

typedef struct played_thread {
    size_t at;         /* the next call */
    uint64_t ready_ns; /* when it makes that */
    bool waits;
} played_thread;

typedef struct player {
    play_work work;
    const program *it;
    played_thread *threads;
    dynsel_trace_record *records; /* of the trace of this run */
} player;

static const program_thread *calls_of(const player *p, uint32_t ring)
{
    return &p->it->threads[ring];
}

static bool is_over(const player *p, uint32_t ring)
{
    return p->threads[ring].at == calls_of(p, ring)->count;
}

/* The thread has made its call: it computes until the next one. */
static void go_on(player *p, uint32_t ring)
{
    played_thread *thread = &p->threads[ring];
    const program_call *made = &calls_of(p, ring)->calls[thread->at++];
    thread->waits = false;
    thread->ready_ns = dynsel_now_ns();
    if (!is_over(p, ring) && made[1].begin_ns > made->end_ns) {
        thread->ready_ns += made[1].begin_ns - made->end_ns;
    }
}

static void make_call(player *p, uint32_t ring)
{
    const program_call *call = &calls_of(p, ring)->calls[p->threads[ring].at];
    switch (call->what) {
    case PROGRAM_SUBMIT:
        play_work_submit(&p->work, call->piece);
        break;
    case PROGRAM_ACCESS:
        play_work_access(&p->work, call->piece);
        break;
    case PROGRAM_WAIT:
    case PROGRAM_WAIT_ALL:
        p->threads[ring].waits = true;
        return;
    case PROGRAM_END:
        play_work_end_buffer(&p->work, call->piece);
        break;
    case PROGRAM_NOTHING:
    default:
        break;
    }
    go_on(p, ring);
}

static bool has_what_it_waits_for(player *p, uint32_t ring)
{
    const program_call *call = &calls_of(p, ring)->calls[p->threads[ring].at];
    return call->what == PROGRAM_WAIT ? play_work_is_over(&p->work, call->piece)
                                      : play_work_is_all_over(&p->work);
}

/* The thread that makes the next call; 0: all wait or are over. */
static uint32_t earliest(const player *p)
{
    uint32_t found = 0;
    for (uint32_t ring = 1; ring < p->it->all->file.ring_count; ring++) {
        if (!is_over(p, ring) && !p->threads[ring].waits &&
            (found == 0 || p->threads[ring].ready_ns < p->threads[found].ready_ns)) {
            found = ring;
        }
    }
    return found;
}

static uint32_t count_waiting(const player *p)
{
    uint32_t count = 0;
    for (uint32_t ring = 1; ring < p->it->all->file.ring_count; ring++) {
        count += !is_over(p, ring) && p->threads[ring].waits ? 1 : 0;
    }
    return count;
}

/* True: some thread goes on. */
static bool look_at_waits(player *p)
{
    bool found = false;
    for (uint32_t ring = 1; ring < p->it->all->file.ring_count; ring++) {
        if (!is_over(p, ring) && p->threads[ring].waits && has_what_it_waits_for(p, ring)) {
            go_on(p, ring);
            found = true;
        }
    }
    return found;
}

/* Two threads that wait for each other, for ever: the recorded order was another one. */
static void give_up_waits(player *p)
{
    for (uint32_t ring = 1; ring < p->it->all->file.ring_count; ring++) {
        if (!is_over(p, ring) && p->threads[ring].waits) {
            go_on(p, ring);
        }
    }
}

/* The only thread that is left waits, as in the recorded run. */
static void wait_alone(player *p)
{
    for (uint32_t ring = 1; ring < p->it->all->file.ring_count; ring++) {
        if (is_over(p, ring)) {
            continue;
        }
        const program_call *call = &calls_of(p, ring)->calls[p->threads[ring].at];
        if (call->what == PROGRAM_WAIT) {
            play_work_wait(&p->work, call->piece);
        } else {
            play_work_wait_for_all(&p->work);
        }
        go_on(p, ring);
    }
}

static void play_all(player *p)
{
    for (;;) {
        const uint32_t next = earliest(p);
        const uint32_t waiting = count_waiting(p);
        if (next == 0 && waiting == 0) {
            return;
        }
        if (next == 0 && waiting == 1) {
            wait_alone(p);
            continue;
        }
        if (look_at_waits(p)) {
            continue;
        }
        if (next != 0 && p->threads[next].ready_ns <= dynsel_now_ns()) {
            make_call(p, next);
        } else if (next != 0) {
            dynsel_simulated_pass(p->threads[next].ready_ns);
        } else if (play_work_is_all_over(&p->work)) {
            give_up_waits(p);
        } else {
            dynsel_simulated_pass(dynsel_now_ns() + 1000000000u);
        }
    }
}

static void begin_threads(player *p)
{
    for (uint32_t ring = 1; ring < p->it->all->file.ring_count; ring++) {
        if (calls_of(p, ring)->count != 0) {
            p->threads[ring].ready_ns =
                dynsel_now_ns() + (calls_of(p, ring)->calls[0].begin_ns - p->it->begin_ns);
        }
    }
}

static dynsel_status append(void *file, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, file) == count ? DYNSEL_OK : DYNSEL_E_FULL;
}

static int write_trace(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        log_error("%s: %s", path, strerror(errno));
        return EXIT_DIFFERENT;
    }
    const bool written =
        dynsel_trace_stop() == DYNSEL_OK && dynsel_trace_write(append, file) == DYNSEL_OK;
    if (fclose(file) != 0 || !written) {
        log_error("%s: %s", path, errno != 0 ? strerror(errno) : "it cannot be written");
        return EXIT_DIFFERENT;
    }
    return 0;
}

static int begin_trace(player *p)
{
    const size_t count =
        ((size_t)p->it->all->piece_count * TRACE_RECORDS_OF_PIECE + LEAST_TRACE_RECORDS) *
        (CONFIG_DYNSEL_TRACE_THREADS + 1);
    p->records = calloc(count, sizeof *p->records);
    return p->records != NULL && dynsel_trace_start(p->records, count) == DYNSEL_OK
               ? 0
               : log_wrong("there is not enough memory for the trace of the simulated run");
}

static play_result play_here(const program *it, const estimates *times, const play_case *how)
{
    player p = {.it = it};
    play_result result = {.status = 0};
    dynsel_simulated_restart();
    p.threads = calloc(it->all->file.ring_count, sizeof *p.threads);
    if (p.threads == NULL) {
        result.status = log_wrong("there is not enough memory");
        return result;
    }
    result.status = how->trace_path != NULL ? begin_trace(&p) : 0;
    if (result.status == 0) {
        result.status = play_work_begin(&p.work, it, times, how);
    }
    if (result.status == 0) {
        const uint64_t began_ns = dynsel_now_ns();
        begin_threads(&p);
        play_all(&p);
        play_work_end(&p.work, &result);
        result.time_ns = dynsel_now_ns() - began_ns;
    }
    if (result.status == 0 && how->trace_path != NULL) {
        result.status = write_trace(how->trace_path);
    }
    free(p.records);
    free(p.threads);
    return result;
}

/* What the process of a case writes; false: it ended before. */
static bool receive(int from, play_result *result)
{
    unsigned char *at = (unsigned char *)result;
    size_t left = sizeof *result;
    while (left != 0) {
        const ssize_t got = read(from, at, left);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        at += got > 0 ? got : 0;
        left -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static void tell(int to, const play_result *result)
{
    const unsigned char *at = (const unsigned char *)result;
    size_t left = sizeof *result;
    while (left != 0) {
        const ssize_t written = write(to, at, left);
        if (written < 0 && errno != EINTR) {
            return;
        }
        at += written > 0 ? written : 0;
        left -= written > 0 ? (size_t)written : 0;
    }
}

play_result play(const program *it, const estimates *times, const play_case *how)
{
    play_result result = {.status = EXIT_WRONG};
    int ends[2];
    (void)fflush(NULL);
    const pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0) {
        log_error("a process for the case cannot be started: %s", strerror(errno));
        return result;
    }
    if (child == 0) {
        result = play_here(it, times, how);
        tell(ends[1], &result);
        _exit(0);
    }
    (void)close(ends[1]);
    if (!receive(ends[0], &result)) {
        log_error("the process of the case '%s' has ended", how->name);
        result = (play_result){.status = EXIT_WRONG};
    }
    (void)close(ends[0]);
    (void)waitpid(child, NULL, 0);
    return result;
}
