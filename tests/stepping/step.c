/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* REG_RSP */

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
    KEPT_BYTES = 128 * 1024,
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
    bool news;   /* the other has written since this one paused */
    bool sleeps; /* it waits for a wake, with a bound */
} coroutine;

/* One way point of the order that is being followed. */
typedef struct way_point {
    coroutine threads[STEP_THREADS];
    uint32_t wakes;
    char stacks[STEP_THREADS][KEPT_STACK_BYTES];
    char memory[KEPT_BYTES];
} way_point;

typedef struct known_state {
    uint64_t key;
    double orders; /* negative: it is on the way that is being followed */
} known_state;

static _Alignas(16) char stacks[STEP_THREADS][STACK_BYTES];
static coroutine threads[STEP_THREADS];
static ucontext_t home;
static int running = NOBODY;
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

/* Lets a thread do its next operation, up to before the one after. */
static void resume(unsigned thread)
{
    coroutine *self = &threads[thread];
    self->waits = false;
    running = (int)thread;
    dynsel_thread_state = self->own;
    (void)swapcontext(&home, &self->context);
    self->own = dynsel_thread_state;
    running = NOBODY;
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
        if (at + scenario->bytes[i] > KEPT_BYTES) {
            give_up("KEPT_BYTES in step.c is too small");
        }
        memcpy(here->memory + at, scenario->memory[i], scenario->bytes[i]);
        at += scenario->bytes[i];
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
        memcpy(scenario->memory[i], here->memory + at, scenario->bytes[i]);
        at += scenario->bytes[i];
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

/* What decides how it goes on: memory, and what the threads have on their stacks and in registers.
 */
static uint64_t key_of_state(void)
{
    uint64_t key = mix(1, &wakes, sizeof wakes);
    for (unsigned i = 0; i < STEP_THREADS; i++) {
        const coroutine *self = &threads[i];
        const bool flags[] = {self->finished, self->waits, self->news, self->sleeps};
        key = mix(key, flags, sizeof flags);
        if (!self->finished) {
            key = mix(key, self->low, (size_t)(stacks[i] + STACK_BYTES - self->low));
            key = mix_registers(key, self);
            key = mix(key, &self->own, sizeof self->own);
        }
    }
    for (size_t i = 0; i < scenario->pieces; i++) {
        key = mix(key, scenario->memory[i], scenario->bytes[i]);
    }
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

/* Both ways on from the state that `way[depth]` keeps. */
static double branch(unsigned depth) // NOLINT(misc-no-recursion): as deep as an order is long
{
    double orders = 0;
    if (!may_run(&threads[0]) && !may_run(&threads[1])) {
        end_a_sleep();
    }
    keep(&way[depth]);
    for (unsigned i = 0; i < STEP_THREADS; i++) {
        if (!may_run(&threads[i])) {
            continue;
        }
        path[depth] = (char)('A' + i);
        path[depth + 1] = '\0';
        resume(i);
        orders += follow(depth + 1);
        bring_back(&way[depth]);
    }
    return orders;
}

static double follow(unsigned depth) // NOLINT(misc-no-recursion)
{
    result.longest = depth > result.longest ? depth : result.longest;
    if (depth + 1 >= DEPTH) {
        give_up("there is no end to it");
    }
    const uint64_t key = key_of_state();
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
        bring_back(&way[depth]);
        return state->orders = 1;
    }
    const double orders = branch(depth);
    state->orders = orders;
    return orders;
}

step_result step_through(const step_scenario *what)
{
    scenario = what;
    result = (step_result){.orders = 0};
    memset(known, 0, sizeof known);
    wakes = 0;
    path[0] = '\0';
    for (unsigned i = 0; i < STEP_THREADS; i++) {
        prepare(i);
        resume(i); /* up to before its first operation, which changes nothing that others see */
    }
    const double orders = follow(0);
    result.orders = orders;
    return result;
}
