/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <stdlib.h>

#include "../../examples/common/trace_file.h"
#include "log.h"
#include "targets.h"

enum {
    PIECES = 16, /* for each resource in each part */
#if CONFIG_DYNSEL_IN_FLIGHT
    MOST_TOGETHER = CONFIG_DYNSEL_MAX_IN_FLIGHT
#else
    MOST_TOGETHER = 1
#endif
};

static dynsel_resource table[CONFIG_DYNSEL_MAX_RESOURCES];
static dynsel_round_robin_policy policy;
static dynsel_submission in_flight[MOST_TOGETHER];

static dynsel_status do_nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_BACKEND_OPENCL
static dynsel_status enqueue_marker(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const cl_command_queue queue = dynsel_opencl_queue(where);

    (void)args;
    if (queue == NULL) {
        return dynsel_last_error()->status;
    }
    return dynsel_opencl_check("clEnqueueMarkerWithWaitList",
                               clEnqueueMarkerWithWaitList(queue, 0, NULL, &done->opencl));
}
#endif

static const dynsel_task_form forms[] = {
#if CONFIG_DYNSEL_BACKEND_OPENCL
    {&dynsel_opencl_backend, enqueue_marker},
#endif
    {NULL, do_nothing}};

static const dynsel_task empty = {.forms = forms, .form_count = sizeof forms / sizeof *forms};

static int fail(const char *who)
{
    char text[512];

    (void)dynsel_error_text(NULL, text, sizeof text);
    log_error("--trace: %s: %s", who, text);
    return EXIT_FAILURE;
}

/** Chooses first, so that the resource has a name if it refuses the work. */
static int submit(dynsel_submission *submission)
{
    dynsel_selection selection;

    if (dynsel_select(&policy.policy, &empty, &selection) != DYNSEL_OK) {
        return fail("no resource is chosen");
    }
    if (dynsel_submit_selection(&selection, &empty, submission) != DYNSEL_OK) {
        return fail(dynsel_resource_name(dynsel_selection_unwrap(&selection)));
    }
    return EXIT_SUCCESS;
}

static int finish(dynsel_submission *submission)
{
    const char *who = dynsel_resource_name(dynsel_submission_resource(submission));

    return dynsel_wait(submission) == DYNSEL_OK ? EXIT_SUCCESS : fail(who);
}

/** Keeps up to `most_together` pieces of work in flight. All work is over at the end, or
 * detached. */
static int run_part(size_t pieces, size_t most_together)
{
    const size_t together = most_together != 0 ? most_together : 1;
    size_t begun = 0, ended = 0;
    int status = EXIT_SUCCESS;

    while (status == EXIT_SUCCESS && ended < pieces) {
        if (begun < pieces && begun - ended < together) {
            status = submit(&in_flight[begun % together]);
            begun += status == EXIT_SUCCESS;
        } else {
            status = finish(&in_flight[ended % together]);
            ended++;
        }
    }
    for (; ended < begun; ended++) {
        const dynsel_status left = dynsel_wait(&in_flight[ended % together]);
        (void)left; /* the first failure was printed */
    }
    return status;
}

static bool add(size_t *count, const dynsel_resource *resources, size_t more)
{
    for (size_t i = 0; i < more; i++) {
        if (*count == CONFIG_DYNSEL_MAX_RESOURCES) {
            log_error("--trace: more resources are chosen than a policy can have, which are %d; "
                      "choose fewer with --device",
                      CONFIG_DYNSEL_MAX_RESOURCES);
            return false;
        }
        table[(*count)++] = resources[i];
    }
    return true;
}

/** Those that policies of this build accept: the others get no work in programs either. Not those
 * of other ranks, which know no task. */
static bool fill_table(const info_list *list, size_t *count)
{
    bool fits = true;

    for (size_t i = 0; i < list->count && fits; i++) {
        const info_entry *entry = &list->entries[i];
        if (!entry->chosen || !targets_accept(entry) || entry->kind == INFO_RANK) {
            continue;
        }
#if CONFIG_DYNSEL_BACKEND_THREADS
        if (entry->kind == INFO_WORKERS) {
            dynsel_resource workers[CONFIG_DYNSEL_THREADS_WORKERS];
            size_t found = 0;
            if (dynsel_threads_resources(workers, CONFIG_DYNSEL_THREADS_WORKERS, &found) !=
                DYNSEL_OK) {
                (void)fail("the worker threads");
                return false;
            }
            fits = add(count, workers, found);
            continue;
        }
#endif
        fits = add(count, &entry->resource, 1);
    }
    return fits;
}

static int run_parts(size_t count)
{
    const size_t pieces = PIECES * count;

    dynsel_trace_name(&empty, "empty");
    dynsel_trace_mark("one by one");
    const int status = run_part(pieces, 1);
    if (status != EXIT_SUCCESS) {
        return status;
    }
    dynsel_trace_mark("together");
    return run_part(pieces, pieces < MOST_TOGETHER ? pieces : MOST_TOGETHER);
}

int trial_begin(const char *path)
{
    return trace_file_begin("dynsel-info", path, TRACE_FILE_RECORDS);
}

int trial_run(const info_list *list)
{
    dynsel_options options = {.resources = table};

    if (!fill_table(list, &options.count)) {
        return EXIT_FAILURE;
    }
    if (options.count == 0) {
        log_error("--trace: no device is chosen that policies of this build accept");
        return EXIT_FAILURE;
    }
    if (dynsel_round_robin_init(&policy, &options, 0) != DYNSEL_OK) {
        return fail("round_robin");
    }
    const int status = run_parts(options.count);
    if (dynsel_policy_deinit(&policy.policy) != DYNSEL_OK && status == EXIT_SUCCESS) {
        return fail("round_robin");
    }
    return status;
}

int trial_end(void)
{
    return trace_file_end();
}
