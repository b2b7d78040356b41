/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A task: one piece of work, in one form or in several, for a policy to place.
 *
 * The simple case is one function: `dynsel_submit(&policy.policy, &DYNSEL_TASK(function, &args),
 * NULL)`. Work that looks different on different backends brings a table of forms, which can be
 * const and stand in ROM:
 *
 *     static const dynsel_task_form blur_forms[] = {
 *         {&dynsel_inline_backend, blur_on_host},
 *         {&dynsel_opencl_backend, blur_on_device},
 *     };
 *     dynsel_task blur = {.forms = blur_forms, .form_count = 2, .args = &image};
 *
 * Every policy excludes a resource for whose backend the task has no form.
 *
 * A task may need aspects of the device, and is then placed only on devices that have them:
 *
 *     dynsel_task solve = {.function = solve_in_double, .aspects = DYNSEL_ASPECT_BIT(fp64)};
 */
#ifndef DYNSEL_TASK_H
#define DYNSEL_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/aspects.h>
#include <dynsel/resource.h>
#include <dynsel/status.h>

DYNSEL_BEGIN_DECLS

/** The means by which a task function tells when its work will be complete, and its result. All
 * zero when the function is called. */
typedef struct dynsel_event {
    union {
        void *native; /**< NULL: the work is done when the function returns */
        struct _cl_event
            *opencl; /**< the same as a cl_event: hand `&done->opencl` to the last enqueue */
    };
    uintptr_t value; /**< a result for dynsel_submission_unwrap(); the library only carries it */
} dynsel_event;

/**
 * Does the work on the chosen resource, or enqueues it there.
 *
 * where: the chosen entry of dynsel_get_resources(); lives as long as the policy is initialized.
 * args:  the task's `args`. What it points to must stay until the work is complete.
 * done:  to be filled in when the work goes on after the return. The event then belongs to the
 *     library, which releases it exactly once. Work that was enqueued is waited for even when the
 *     function returns a failure.
 * Returns: DYNSEL_OK or any failure; it is what a wait for this work returns.
 *
 * Called in the thread that submits (a backend that uses another thread documents it), with no lock
 * of the library held. It may select and submit more work, but not wait: that fails with
 * DYNSEL_E_IN_TASK. A submit inside it does not wait for a slot either: it fails with
 * DYNSEL_E_FULL.
 */
typedef dynsel_status (*dynsel_task_fn)(const dynsel_resource *where, void *args,
                                        dynsel_event *done);

/** The form that a task has for the resources of one backend. */
typedef struct dynsel_task_form {
    const dynsel_backend *backend; /**< NULL: for every backend without an earlier form */
    dynsel_task_fn function;
} dynsel_task_form;

/** A time limit that never passes. */
#define DYNSEL_NO_TIME_LIMIT UINT64_MAX

/** Unused fields are zero. The structure need not outlive the submitting call. */
typedef struct dynsel_task {
    dynsel_task_fn function; /**< for every resource without a form; NULL: those are excluded */
    const dynsel_task_form *forms; /**< searched from the first on; borrowed during the call */
    size_t form_count;
    void *args;  /**< passed to the function; must outlive the work */
    uint32_t id; /**< the kind of this task, for policies that learn; 0: identified by its function
                      (of several forms, the first). Tasks of one id have the same forms: a resource
                      that one of them cannot use is not learned for the others */
#if CONFIG_DYNSEL_ASPECTS
    /** Only for resources that have all of these: DYNSEL_ASPECT_BIT(fp64), which is a set, and not
     * DYNSEL_ASPECT_fp64, a number. Work that needs other aspects is learned separately. */
    dynsel_aspect_set aspects;
#endif
    /** Further identification of this kind of task, such as the size of its data: work with other
     * key words, or with another number of them, is learned separately. Borrowed during the call.
     * */
    const uint32_t *key_words;
    size_t key_word_count; /**< at most CONFIG_DYNSEL_MAX_KEY_WORDS, for the policies that learn */
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    /** How much work it is, in elements, bytes, operations or any other unit that is the same for
     * all tasks of this kind: from the times for some amounts earliest_finish predicts those for
     * others. 0: not said, the same for all of its kind. */
    uint64_t amount;
#endif
#if CONFIG_DYNSEL_TIME_LIMITS
    /** The longest time that the resource may take for the work, in nanoseconds; 0:
     * CONFIG_DYNSEL_TIME_LIMIT_MS; DYNSEL_NO_TIME_LIMIT: none. See <dynsel/resource_states.h>.
     * Ignored by work that is complete when the submit returns. */
    uint64_t limit_ns;
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
    /** The placeholders that the task will use, so that a policy can call dynsel_bytes_to_move().
     * Borrowed during the call; they register nothing. */
    const struct dynsel_requirement *requirements;
    size_t requirement_count;
    /** What is known of the data of a command group, for policies that set `weighs_data` and are
     * not settled (see <dynsel/policy.h>); else NULL. */
    struct dynsel_data_outlook *data;
#endif
#if CONFIG_DYNSEL_REPEAT
    /** Not NULL: the work may be repeated elsewhere if its device fails, see <dynsel/repeat.h>.
     * Then `forms`, `key_words` and `requirements` must outlive the work; this is borrowed during
     * the call. */
    const struct dynsel_repeat *repeat;
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS || CONFIG_DYNSEL_REPEAT
    const uint32_t *excluded; /**< internal; leave it NULL */
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
    bool id_of_address; /**< internal: `id` is made of addresses, so it means nothing in another
                             run of the program; leave it false */
#endif
} dynsel_task;

/** The task that is one function for every resource. In C a compound literal, which lives until the
 * enclosing block ends; in C++ a temporary object: `&DYNSEL_TASK(...)` lives until the statement
 * ends, which is as long as a submitting call needs it. */
#if defined(__cplusplus)
#define DYNSEL_TASK(function_, args_)                                                              \
    (static_cast<const dynsel_task &>(dynsel_make_task((function_), (args_))))

/** Internal: the value of DYNSEL_TASK(). */
inline DYNSEL_CONSTEXPR_ dynsel_task dynsel_make_task(dynsel_task_fn function, void *args)
{
    dynsel_task task = {};
    task.function = function;
    task.args = args;
    return task;
}
#else
#define DYNSEL_TASK(function_, args_) ((dynsel_task){.function = (function_), .args = (args_)})
#endif

/**
 * The function that a task has for the resources of a backend.
 *
 * Returns: NULL when it has none there, or when `task` is NULL.
 * Errors: none.
 * Context: any.
 * Cost: linear in form_count.
 */
dynsel_task_fn dynsel_task_function_for(const dynsel_task *task, const dynsel_backend *backend);

DYNSEL_END_DECLS

#endif
