/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* REG_RSP */
/* Tests are built for quick compilations; this one computes keys for long. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2")
#endif

#include "stepping/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "port/pause.h"
#include "port/thread.h"
#include "port/wake.h"

enum {
    STACK_BYTES = 64 * 1024,
    KEPT_STACK_BYTES = 8 * 1024,
    BELOW_STACK = 512, /* of a stopped thread, what the switch itself has on its stack */
    CLEARED_STACK = 2 * 1024,
    KEPT_BYTES = 128 * 1024,
    PART_BYTES = 256,
    PARTS = 640, /* more than KEPT_BYTES has: the last one of a piece may be short */
    DEPTH = 400,
    STATES = 1 << 22,
    NOBODY = -1
};

typedef struct coroutine {
    ucontext_t context;
    char *low; /* where its stack ends while it is stopped */
    dynsel_thread own;
    bool finished;
    bool waits;
    bool news;    /* the other has written since this one paused */
    bool sleeps;  /* it waits for a wake, with a bound */
    uint64_t key; /* of its stack, registers and own state */
} coroutine;

/* One way point of the order that is being followed. */
typedef struct way_point {
    coroutine threads[STEP_THREADS];
    uint32_t wakes;
    char stacks[STEP_THREADS][KEPT_STACK_BYTES];
    char memory[KEPT_BYTES];
    uint64_t keys[PARTS]; /* of each part of a piece of memory */
} way_point;

typedef struct known_state {
    uint64_t key;
    double orders; /* negative: it is on the way that is being followed */
} known_state;

static _Alignas(16) char stacks[STEP_THREADS][STACK_BYTES];
static coroutine threads[STEP_THREADS];
static ucontext_t home;
static int running = NOBODY;
static int stepped = NOBODY; /* who ran last */
static uint32_t wakes;
static const step_scenario *scenario;
static way_point way[DEPTH];
static char path[DEPTH + 1];
static known_state known[STATES];
static step_result result;

_Noreturn static void give_up(const char *why)
{
    (void)fprintf(stderr, "%s, in the order %s\n", why, path);
    abort();
}

const char *step_path(void)
{
    return path;
}

unsigned step_thread(void)
{
    return (unsigned)running;
}

static void stop(coroutine *self)
{
    (void)swapcontext(&self->context, &home);
}

void step_before(step_kind kind)
{
    if (running == NOBODY) {
        return;
    }
    const unsigned self = step_thread();
    stop(&threads[self]);
    threads[1 - self].news = threads[1 - self].news || kind == STEP_WRITES;
}

static bool is_counter(const char *word)
{
    for (size_t i = 0; i < scenario->pieces; i++) {
        const step_piece *piece = &scenario->memory[i];
        const char *from = piece->memory;
        if (piece->counters && word >= from && word < from + piece->bytes) {
            return true;
        }
    }
    return false;
}

void step_before_word(const void *word, step_kind kind)
{
    if (running != NOBODY && !is_counter(word)) {
        step_before(kind);
    }
}

void step_pause(void)
{
    coroutine *self = &threads[step_thread()];
    if (!self->news) {
        self->waits = true;
        stop(self);
    }
    self->news = false;
}

/* The port's own, as the library sees it. */
void dynsel_pause(uint32_t round)
{
    (void)round;
    if (running != NOBODY) {
        step_pause();
    }
}

void dynsel_pause_for_copy(uint32_t round)
{
    dynsel_pause(round);
}

uint32_t dynsel_wake_ticket(void)
{
    step_before(STEP_READS);
    return wakes;
}

uint64_t dynsel_wake_look(uint32_t ticket, uint64_t longest_ns)
{
    return wakes == ticket ? longest_ns : 0;
}

void dynsel_wake_sleep(uint32_t ticket, uint64_t longest_ns)
{
    (void)longest_ns;
    while (wakes == ticket && running != NOBODY) {
        coroutine *self = &threads[step_thread()];
        self->sleeps = true;
        step_pause();
        if (!self->sleeps) {
            return; /* the bound is over */
        }
        self->sleeps = false;
    }
}

void dynsel_wake_all(void)
{
    step_before(STEP_WRITES);
    wakes++;
}

static void begin(unsigned thread)
{
    scenario->run(thread);
    threads[thread].finished = true;
    threads[1 - thread].news = true;
    stop(&threads[thread]);
}

static void prepare(unsigned thread)
{
    coroutine *self = &threads[thread];
    memset(self, 0, sizeof *self);
    self->own.counting_place = thread + 1; /* who takes one first is no part of a state */
    (void)getcontext(&self->context);
    self->context.uc_stack.ss_sp = stacks[thread];
    self->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&self->context, (void (*)(void))begin, 1, thread);
}

static char *low_end(coroutine *self)
{
#if defined(__x86_64__)
    return (char *)(uintptr_t)self->context.uc_mcontext.gregs[REG_RSP]; // NOLINT
#else
    return stacks[self - threads] + STACK_BYTES - KEPT_STACK_BYTES + BELOW_STACK;
#endif
}

static bool may_run(const coroutine *self)
{
    return !self->finished && (!self->waits || self->news);
}

/* What its next calls leave unset on their stack is not what other orders left there: that would
 * tell equal states apart. */
static void clear_below(coroutine *self)
{
    if (self->low != NULL) {
        memset(self->low - CLEARED_STACK, 0, CLEARED_STACK);
    }
}

/* Lets a thread do its next operation, up to before the one after. */
static void resume(unsigned thread)
{
    coroutine *self = &threads[thread];
    self->waits = false;
    running = (int)thread;
    clear_below(self);
    dynsel_thread_state = self->own;
    (void)swapcontext(&home, &self->context);
    self->own = dynsel_thread_state;
    running = NOBODY;
    stepped = (int)thread;
    self->low = low_end(self);
}

static size_t stack_bytes(unsigned thread)
{
    const size_t bytes = (size_t)(stacks[thread] + STACK_BYTES - threads[thread].low) + BELOW_STACK;
    if (bytes > KEPT_STACK_BYTES) {
        give_up("KEPT_STACK_BYTES in step.c is too small");
    }
    return bytes;
}

static void keep(way_point *here)
{
    size_t at = 0;
    memcpy(here->threads, threads, sizeof threads);
    here->wakes = wakes;
    for (unsigned i = 0; i < STEP_THREADS; i++) {
        memcpy(here->stacks[i], threads[i].low - BELOW_STACK, stack_bytes(i));
    }
    for (size_t i = 0; i < scenario->pieces; i++) {
        const step_piece *piece = &scenario->memory[i];
        memcpy(here->memory + at, piece->memory, piece->bytes);
        at += piece->bytes;
    }
}

static void bring_back(const way_point *here)
{
    size_t at = 0;
    memcpy(threads, here->threads, sizeof threads);
    wakes = here->wakes;
    for (unsigned i = 0; i < STEP_THREADS; i++) {
        memcpy(threads[i].low - BELOW_STACK, here->stacks[i], stack_bytes(i));
    }
    for (size_t i = 0; i < scenario->pieces; i++) {
        const step_piece *piece = &scenario->memory[i];
        memcpy(piece->memory, here->memory + at, piece->bytes);
        at += piece->bytes;
    }
}

static uint64_t mix(uint64_t key, const void *memory, size_t bytes)
{
    const char *from = memory;
    for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t), from += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, from, sizeof word);
        key = (key ^ word) * 0x9e3779b97f4a7c15u;
        key ^= key >> 32;
    }
    for (; bytes > 0; bytes--) {
        key = (key ^ (unsigned char)*from++) * 0x9e3779b97f4a7c15u;
    }
    return key;
}

/* Those that a call keeps: what is in the others is dead, and would tell equal states apart. */
static uint64_t mix_registers(uint64_t key, const coroutine *self)
{
#if defined(__x86_64__)
    static const int kept[] = {REG_RBX, REG_RBP, REG_R12, REG_R13,
                               REG_R14, REG_R15, REG_RSP, REG_RIP};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const greg_t value = self->context.uc_mcontext.gregs[kept[i]];
        key = mix(key, &value, sizeof value);
    }
    return key;
#else
    return mix(key, &self->context.uc_mcontext, sizeof self->context.uc_mcontext);
#endif
}

/* A step changes little of the memory, and to compare the rest with what it was at the way point
 * before takes less time than to mix it again. */
static uint64_t mix_memory(uint64_t key, unsigned depth)
{
    const way_point *before = depth > 0 ? &way[depth - 1] : NULL;
    size_t at = 0;
    size_t part = 0;
    for (size_t i = 0; i < scenario->pieces; at += scenario->memory[i++].bytes) {
        const step_piece *piece = &scenario->memory[i];
        for (size_t from = 0; from < piece->bytes && !piece->counters; from += PART_BYTES, part++) {
            const size_t left = piece->bytes - from;
            const size_t bytes = left < PART_BYTES ? left : PART_BYTES;
            const char *memory = (const char *)piece->memory + from;
            const bool same =
                before != NULL && memcmp(memory, before->memory + at + from, bytes) == 0;
            way[depth].keys[part] = same ? before->keys[part] : mix(part, memory, bytes);
        }
    }
    return mix(key, way[depth].keys, part * sizeof(uint64_t));
}

/* So it is with the stack of the thread that did not run. */
static uint64_t mix_thread(unsigned thread, unsigned depth)
{
    const coroutine *self = &threads[thread];
    const size_t bytes = (size_t)(stacks[thread] + STACK_BYTES - self->low);
    if (depth > 0 && (int)thread != stepped) {
        const way_point *before = &way[depth - 1];
        if (memcmp(self->low, before->stacks[thread] + BELOW_STACK, bytes) == 0) {
            return before->threads[thread].key;
        }
    }
    const uint64_t key = mix_registers(mix(thread, self->low, bytes), self);
    return mix(key, &self->own, sizeof self->own);
}

/* What decides how it goes on: memory, and what the threads have on their stacks and in registers.
 */
static uint64_t key_of_state(unsigned depth)
{
    uint64_t key = mix(1, &wakes, sizeof wakes);
    for (unsigned i = 0; i < STEP_THREADS; i++) {
        coroutine *self = &threads[i];
        const bool flags[] = {self->finished, self->waits, self->news, self->sleeps};
        key = mix(key, flags, sizeof flags);
        if (!self->finished) {
            self->key = mix_thread(i, depth);
            key = mix(key, &self->key, sizeof self->key);
        }
    }
    key = mix_memory(key, depth);
    return key != 0 ? key : 1;
}

static known_state *find_state(uint64_t key)
{
    uint64_t at = key % STATES;
    while (known[at].key != 0 && known[at].key != key) {
        at = (at + 1) % STATES;
    }
    return &known[at];
}

static double follow(unsigned depth);

/* When nobody else can go on, the bound of a sleep is over in the end. */
static void end_a_sleep(void)
{
    for (unsigned i = 0; i < STEP_THREADS; i++) {
        if (!threads[i].finished && threads[i].sleeps) {
            threads[i].sleeps = false;
            threads[i].news = true;
            result.overslept++;
            return;
        }
    }
    give_up("each thread waits for the other");
}

static double go_on(unsigned thread, unsigned depth) // NOLINT(misc-no-recursion)
{
    path[depth] = (char)('A' + thread);
    path[depth + 1] = '\0';
    resume(thread);
    return follow(depth + 1);
}

/* Both ways on from this state, which the caller need not find again. */
static double branch(unsigned depth) // NOLINT(misc-no-recursion): as deep as an order is long
{
    if (!may_run(&threads[0]) && !may_run(&threads[1])) {
        end_a_sleep();
    }
    keep(&way[depth]);
    if (!may_run(&threads[0])) {
        return go_on(1, depth);
    }
    const bool both = may_run(&threads[1]);
    const double orders = go_on(0, depth);
    if (!both) {
        return orders;
    }
    bring_back(&way[depth]);
    return orders + go_on(1, depth);
}

static double follow(unsigned depth) // NOLINT(misc-no-recursion)
{
    result.longest = depth > result.longest ? depth : result.longest;
    if (depth + 1 >= DEPTH) {
        give_up("there is no end to it");
    }
    const uint64_t key = key_of_state(depth);
    known_state *state = find_state(key);
    if (state->key == key) {
        return state->orders < 0 ? 0 : state->orders; /* a circle is left some time */
    }
    *state = (known_state){.key = key, .orders = -1};
    if (++result.states > STATES / 2) {
        give_up("there are more states than fit");
    }
    if (threads[0].finished && threads[1].finished) {
        result.ends++;
        keep(&way[depth]);
        scenario->check();
        return state->orders = 1;
    }
    const double orders = branch(depth);
    state->orders = orders;
    return orders;
}

static void check_sizes(void)
{
    size_t bytes = 0;
    size_t parts = 0;
    for (size_t i = 0; i < scenario->pieces; i++) {
        bytes += scenario->memory[i].bytes;
        parts += scenario->memory[i].bytes / PART_BYTES + 1;
    }
    if (bytes > KEPT_BYTES || parts > PARTS) {
        give_up("KEPT_BYTES or PARTS in step.c is too small");
    }
}

step_result step_through(const step_scenario *what)
{
    scenario = what;
    check_sizes();
    result = (step_result){.orders = 0};
    memset(known, 0, sizeof known);
    wakes = 0;
    path[0] = '\0';
    for (unsigned i = 0; i < STEP_THREADS; i++) {
        prepare(i);
        resume(i); /* up to before its first operation, which changes nothing that others see */
    }
    const double orders = follow(0);
    bring_back(&way[0]);
    result.orders = orders;
    return result;
}
