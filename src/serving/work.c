/* SPDX-License-Identifier: Apache-2.0 */
#include "serving/work.h"

#include <string.h>

#include <dynsel/backend.h>
#include <dynsel/fixed_resource.h>

#include "backends/mpi/state.h"
#include "base/fail.h"
#include "port/likely.h"

/* The arguments of a task that goes on. */
typedef struct arguments {
    _Alignas(max_align_t) unsigned char bytes[CONFIG_DYNSEL_MPI_ARGUMENT_BYTES];
    uint32_t operation; /* its number + 1; 0: free */
} arguments;

static dynsel_fixed_resource_policy policies[CONFIG_DYNSEL_MPI_RANK_RESOURCES];
static uint64_t last_ends[CONFIG_DYNSEL_MPI_RANK_RESOURCES]; /* when work was seen to have ended */
static uint32_t policy_count;
static arguments places[CONFIG_DYNSEL_MAX_IN_FLIGHT];
static uint32_t next_place; /* the last one: first in the search, because it may be free again, and
                               is in the cache then */

DYNSEL_RARE dynsel_status dynsel_serving_init(void)
{
    (void)memset(places, 0, sizeof(places));
    (void)memset(last_ends, 0, sizeof(last_ends));
    policy_count = 0;
    while (policy_count < dynsel_mpi.resource_count) {
        const dynsel_options options = {.resources = &dynsel_mpi.resources[policy_count],
                                        .count = 1};
        const dynsel_status status =
            dynsel_fixed_resource_init(&policies[policy_count], &options, 0);
        if (status != DYNSEL_OK) {
            const dynsel_error error = *dynsel_last_error();
            (void)dynsel_serving_deinit();
            return dynsel_fail(&error);
        }
        policy_count++;
    }
    return DYNSEL_OK;
}

bool dynsel_serving_deinit(void)
{
    bool all = true;
    for (uint32_t i = 0; i < policy_count; i++) {
        all = dynsel_policy_deinit(&policies[i].policy) == DYNSEL_OK && all;
    }
    policy_count = 0;
    return all;
}

dynsel_policy *dynsel_serving_policy(uint8_t resource)
{
    return resource < policy_count ? &policies[resource].policy : NULL;
}

static arguments *find_place(void)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        arguments *const place = &places[(next_place + i) % CONFIG_DYNSEL_MAX_IN_FLIGHT];
        const uint32_t number = place->operation;
        if (number == 0 || dynsel_served_at(number - 1)->result.back != place->bytes ||
            dynsel_served_at(number - 1)->state == (uint8_t)DYNSEL_SERVED_NOTHING) {
            next_place = (next_place + i) % CONFIG_DYNSEL_MAX_IN_FLIGHT;
            return place;
        }
    }
    return NULL;
}

static dynsel_status refuse(const char *detail, uint32_t number)
{
    (void)detail; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_serve"), DYNSEL_E_INVALID, detail, number);
}

static dynsel_status check_task(const dynsel_mpi_header *header, dynsel_served_reader *body,
                                dynsel_mpi_task_body *task)
{
    if (header->resource >= policy_count) {
        return refuse(DYNSEL_TEXT("this rank has no resource {}"), header->resource);
    }
    if (!dynsel_served_reader_take(body, task, sizeof(*task)) || header->after_count != 0) {
        return refuse(DYNSEL_TEXT("the message about a task is torn"), 0);
    }
    if (task->task >= dynsel_mpi.options.task_count ||
        body->left != DYNSEL_MPI_ROUND(dynsel_mpi.options.tasks[task->task].bytes) ||
        dynsel_mpi.options.tasks[task->task].bytes > CONFIG_DYNSEL_MPI_ARGUMENT_BYTES) {
        return refuse(DYNSEL_TEXT("there is no task {} with so many bytes of arguments"),
                      task->task);
    }
    return DYNSEL_OK;
}

/* The time of work that has ended now, on a resource that does one piece at a time. */
static uint64_t take_time(uint32_t resource, uint64_t since_ns)
{
    uint64_t *const last_end = &last_ends[resource];
    const uint64_t now = dynsel_now_ns();
    const uint64_t begin = since_ns > *last_end ? since_ns : *last_end;
    *last_end = now;
    return now - begin;
}

static void end(dynsel_served *operation, dynsel_status status)
{
    dynsel_error error = {.status = DYNSEL_OK};
    if (status != DYNSEL_OK) {
        error = *dynsel_last_error();
    }
    dynsel_served_end(operation, status == DYNSEL_OK ? NULL : &error);
}

bool dynsel_serving_look(dynsel_served *operation)
{
    if (dynsel_submission_poll(&operation->of.submission) == DYNSEL_E_AGAIN) {
        return false;
    }
    operation->result.took_ns = take_time(operation->resource, operation->since_ns);
    dynsel_status status = dynsel_wait(&operation->of.submission);
    if (operation->dependency_failed) {
        status = DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_serve"), DYNSEL_E_DEPENDENCY,
                                DYNSEL_TEXT("data that it uses did not arrive"), 0);
    }
    end(operation, status);
    return true;
}

static dynsel_served *enter(const dynsel_mpi_header *header, arguments *place, uint64_t begin_ns)
{
    dynsel_served *const operation = dynsel_served_begin(header, DYNSEL_SERVED_RUNNING, begin_ns);
    place->operation = header->operation + 1;
    return operation;
}

/* In this thread: over before anybody could ask for it, so it gets an entry in the table only where
 * the answer has to wait. */
static void run_here(const dynsel_mpi_header *header, const dynsel_task *task, arguments *place,
                     dynsel_served_result *result, bool timed)
{
    static const dynsel_error nothing_is_wrong = {.status = DYNSEL_OK};
    const uint64_t begin_ns = timed ? dynsel_now_ns() : 0;
    const dynsel_status status = dynsel_submit_and_wait(&policies[header->resource].policy, task);
    if (timed) {
        result->took_ns = take_time(header->resource, begin_ns);
    }
    const dynsel_error *const error =
        DYNSEL_LIKELY(status == DYNSEL_OK) ? &nothing_is_wrong : dynsel_last_error();
    if (!DYNSEL_LIKELY(dynsel_served_answer(header->operation, error, result))) {
        dynsel_served *const operation = enter(header, place, begin_ns);
        operation->result = *result;
        end(operation, status);
    }
}

static dynsel_status submit(const dynsel_mpi_header *header, const dynsel_task *task,
                            arguments *place, const dynsel_served_result *result)
{
    const uint64_t begin_ns = dynsel_now_ns();
    dynsel_submission submission = {0};
    const dynsel_status status =
        dynsel_try_submit(&policies[header->resource].policy, task, &submission);
    if (status != DYNSEL_OK) {
        return dynsel_served_may_make_room(status) ? DYNSEL_E_AGAIN : status;
    }
    dynsel_served *const operation = enter(header, place, begin_ns);
    operation->result = *result;
    operation->of.submission = submission;
    return DYNSEL_OK;
}

dynsel_status dynsel_serving_task(const dynsel_mpi_header *header, dynsel_served_reader body)
{
    dynsel_mpi_task_body task = {.task = 0};
    const dynsel_status status = check_task(header, &body, &task);
    if (status != DYNSEL_OK) {
        return status;
    }
    arguments *const place = find_place();
    if (place == NULL) {
        return DYNSEL_E_AGAIN;
    }
    const dynsel_mpi_task *const ours = &dynsel_mpi.options.tasks[task.task];
    (void)memcpy(place->bytes, body.next, ours->bytes);
    const dynsel_task work = {.function = ours->function, .args = place->bytes};
    dynsel_served_result result = {.back = place->bytes,
                                   .back_bytes = ours->comes_back ? (uint32_t)ours->bytes : 0};
    if (!dynsel_mpi.resources[header->resource].backend->ops->only_calls) {
        return submit(header, &work, place, &result);
    }
    run_here(header, &work, place, &result, task.wants_time != 0);
    return DYNSEL_OK;
}

void dynsel_serving_cancel(dynsel_served *operation)
{
    if (operation->state == (uint8_t)DYNSEL_SERVED_RUNNING) {
        const dynsel_status status = dynsel_cancel(&operation->of.submission);
        (void)status; /* it has begun: its end is waited for */
    }
}

void dynsel_serving_leave(dynsel_served *operation)
{
    if (operation->state == (uint8_t)DYNSEL_SERVED_RUNNING) {
        const dynsel_status status = dynsel_submission_release(&operation->of.submission);
        (void)status; /* it was not waited for */
    }
}
