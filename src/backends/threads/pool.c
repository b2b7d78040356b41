/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "backends/threads/pool.h"

#include <unistd.h>

#include <dynsel/threads.h>

#include "backends/threads/worker.h"
#include "base/fail.h"
#include "port/lock.h"

enum { TABLE = CONFIG_DYNSEL_THREADS_WORKERS };

static dynsel_worker workers[TABLE];

static dynsel_lock lock = DYNSEL_LOCK_INITIALIZER; /* of all below */
static uint32_t running;
static uint32_t users; /* entries in the tables of policies */
static bool started;   /* by the program, and not only on demand */

void *dynsel_threads_worker(uint32_t number)
{
    return &workers[number];
}

static uint32_t number_of(const void *handle)
{
    uint32_t number = 0;
    while (number < TABLE && handle != &workers[number]) {
        number++;
    }
    return number;
}

/* Written before anybody can have a handle, and never again. */
static void write_name(char *end, uint32_t number)
{
    static const char prefix[] = "worker ";
    if (*end != '\0') {
        return;
    }
    for (const char *c = prefix; *c != '\0'; c++) {
        *end++ = *c;
    }
    if (number >= 10) {
        *end++ = (char)('0' + number / 10);
    }
    *end = (char)('0' + number % 10);
}

const char *dynsel_threads_name(const void *handle)
{
    const uint32_t number = number_of(handle);
    return number < TABLE ? workers[number].name : NULL;
}

static uint32_t usual_number(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1) {
        return 1;
    }
    return processors < TABLE ? (uint32_t)processors : TABLE;
}

static void stop_all(void)
{
    while (running > 0) {
        running--;
        dynsel_worker_stop(&workers[running]);
    }
}

static dynsel_status start_all(const char *function, uint32_t wanted)
{
    while (running < wanted) {
        write_name(workers[running].name, running);
        const int code = dynsel_worker_start(&workers[running]);
        if (code != 0) {
            stop_all();
            return dynsel_fail(
                &(const dynsel_error){.status = DYNSEL_E_DEVICE,
                                      .code = code,
                                      .function = function,
                                      .detail = DYNSEL_TEXT("the system gives no more threads: "
                                                            "start fewer workers")});
        }
        running++;
    }
    return DYNSEL_OK;
}

static dynsel_status start_if_none(const char *function)
{
    return running > 0 ? DYNSEL_OK : start_all(function, usual_number());
}

static dynsel_status start(uint32_t wanted)
{
    const char *const function = DYNSEL_TEXT("dynsel_threads_start");
    if (running > 0 && wanted != 0 && wanted != running) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_BUSY,
                              "{} workers run already: call dynsel_threads_stop() first", running);
    }
    const dynsel_status status =
        wanted != 0 ? start_all(function, wanted) : start_if_none(function);
    started = started || status == DYNSEL_OK;
    return status;
}

dynsel_status dynsel_threads_start(size_t wanted)
{
    if (wanted > TABLE) {
        return DYNSEL_FAIL_NUMBER(
            DYNSEL_E_FULL, "{} workers do not fit: raise CONFIG_DYNSEL_THREADS_WORKERS", wanted);
    }
    dynsel_lock_acquire(&lock);
    const dynsel_status status = start((uint32_t)wanted);
    dynsel_lock_release(&lock);
    return status;
}

dynsel_status dynsel_threads_stop(void)
{
    dynsel_status status = DYNSEL_OK;
    dynsel_lock_acquire(&lock);
    if (users != 0) {
        status = DYNSEL_FAIL_NUMBER(DYNSEL_E_BUSY, "policies use workers in {} places", users);
    } else {
        stop_all();
        started = false;
    }
    dynsel_lock_release(&lock);
    return status;
}

dynsel_status dynsel_threads_need(const char *function, uint32_t *count)
{
    dynsel_lock_acquire(&lock);
    const dynsel_status status = start_if_none(function);
    *count = running;
    dynsel_lock_release(&lock);
    return status;
}

uint32_t dynsel_threads_started(void)
{
    dynsel_lock_acquire(&lock);
    const uint32_t count = started ? running : 0;
    dynsel_lock_release(&lock);
    return count;
}

static dynsel_status attach(uint32_t number)
{
    const char *const function = DYNSEL_TEXT("dynsel_threads_backend");
    const dynsel_status status = start_if_none(function);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (number >= running) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the handle is none of the {} workers that run: take resources from "
                              "dynsel_threads_resources()",
                              running);
    }
    users++;
    return DYNSEL_OK;
}

dynsel_status dynsel_threads_attach(void *handle)
{
    const uint32_t number = number_of(handle);
    dynsel_lock_acquire(&lock);
    const dynsel_status status = attach(number);
    dynsel_lock_release(&lock);
    return status;
}

void dynsel_threads_detach(void)
{
    dynsel_lock_acquire(&lock);
    users--;
    dynsel_lock_release(&lock);
}
