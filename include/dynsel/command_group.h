/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Command groups: work that says which data it uses, and runs where the policy wants it, once the
 * data are there.
 *
 *     static dynsel_status scale_all(dynsel_handler *handler, void *args)
 *     {
 *         const struct job *job = args;
 *         dynsel_status status = dynsel_require(handler, &job->data);
 *         if (status == DYNSEL_OK) {
 *             status = dynsel_set_arg_accessor(handler, 0, &job->data);
 *         }
 *         ...
 *         return dynsel_parallel_for(handler, &scale, DYNSEL_RANGE(job->count), NULL, NULL);
 *     }
 *
 *     status = dynsel_submit_command_group(&policy.policy, scale_all, &job, NULL);
 *
 * The group function runs in the caller, before the policy chooses: it registers requirements, sets
 * arguments, and launches exactly one thing. What it does wrong is the error of the submission,
 * also when it does not pass the status on, and nothing is started then. The choice can weigh what
 * it registered (dynsel_bytes_to_move()).
 *
 * Order: a command group comes after those that were submitted before and write what it uses, or
 * use what it writes, whichever policies and devices they went to; those that only read the same
 * run together. It is accepted at once and started as soon as what it depends on allows: by the
 * submitting call, or by a later call of the library (dynsel_progress(), submitting calls, waits,
 * and opening a host accessor), not in between: a program that makes no calls starts nothing. When
 * what it reads was to be written by work that failed, it fails too, with DYNSEL_E_DEPENDENCY and
 * the first cause. Where that work did not begin, this does not either, and what is submitted once
 * that is known finds the contents from before. Where it had begun, the contents are lost, until a
 * discarding mode writes them afresh. (Where it was started on the same device before the failure
 * was known, it may have begun there, or a driver fails it as well: submit it again.)
 *
 * Time: what policies learn of a command group has in it what was moved in for it. What is moved
 * back afterwards, because the host, the end of a buffer or work elsewhere needs it, is reported to
 * the policy of the command group that wrote it last, where that wants to know
 * (DYNSEL_TASK_READBACK_TIME). Then the fetch looks at each slot of CONFIG_DYNSEL_MAX_IN_FLIGHT,
 * and at the clock.
 *
 * Source: seed 001.
 */
#ifndef DYNSEL_COMMAND_GROUP_H
#define DYNSEL_COMMAND_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/accessor.h>
#include <dynsel/aspects.h>
#include <dynsel/kernel.h>
#include <dynsel/policy.h>
#include <dynsel/submission.h>

DYNSEL_BEGIN_DECLS

/** What a command group is built with; lives while the group function runs. */
typedef struct dynsel_handler dynsel_handler;

/** args: of the submitting call; used only while that runs. Returns DYNSEL_OK, or any failure to
 * give up the submission with. May submit other work, not wait for any: whatever would (waits,
 * submits that wait for the end, host accessors, ends of buffers, dynsel_svm_map() and _unmap(),
 * dynsel_kernel_prepare(), dynsel_progress_thread_stop()) is DYNSEL_E_IN_TASK. */
typedef dynsel_status (*dynsel_group_fn)(dynsel_handler *handler, void *args);

/**
 * Submits a command group: runs the group function, lets the policy choose among the resources that
 * have a form of what it launches, and starts it when its data may be used.
 *
 * submission: as in dynsel_submit(); NULL: nobody will ask.
 * Errors: what the group function returned or did wrong (below); DYNSEL_E_INVALID (NULL; nothing or
 *     two things launched; a placeholder that is used but not required, or required without a
 *     buffer, or with two different buffers: the subject is its name), DYNSEL_E_STALE (a buffer was
 *     ended), DYNSEL_E_FULL (CONFIG_DYNSEL_MAX_REQUIREMENTS, _MAX_ARGUMENTS, _ARGUMENT_BYTES,
 *     _MAX_DOMAINS; and where waiting does not help, _MAX_IN_FLIGHT, _MAX_READERS,
 *     _MAX_DEPENDENCIES), DYNSEL_E_UNINITIALIZED, DYNSEL_E_UNSUPPORTED (no resource has a form; a
 *     policy that cannot select), DYNSEL_E_ASPECT, DYNSEL_E_OUT_OF_SERVICE. Nothing was accepted
 *     then. Failures after that are told by the wait or the group: also that a device's memory is
 *     full (DYNSEL_E_FULL).
 * May block: as dynsel_submit(); also while a kernel that was not prepared is built.
 * Context: any thread; group functions and task functions, where it does not wait.
 * Cost: that of a submission, one short lock, and a look at each use of each buffer; and that of
 *     starting what others may be started by now, but nothing for command groups that wait.
 */
DYNSEL_CHECKED dynsel_status dynsel_submit_command_group(dynsel_policy *policy,
                                                         dynsel_group_fn group, void *args,
                                                         dynsel_submission *submission);

/** dynsel_submit_command_group() that waits for no room: DYNSEL_E_FULL as soon as a table is
 * full. */
DYNSEL_CHECKED dynsel_status dynsel_try_submit_command_group(dynsel_policy *policy,
                                                             dynsel_group_fn group, void *args,
                                                             dynsel_submission *submission);

/** dynsel_submit_command_group() that gives up after a time: DYNSEL_E_TIMEOUT. */
DYNSEL_CHECKED dynsel_status dynsel_submit_command_group_for(dynsel_policy *policy,
                                                             dynsel_group_fn group, void *args,
                                                             dynsel_submission *submission,
                                                             uint64_t timeout_ns);

/** dynsel_submit_command_group(), then dynsel_wait(). Work that this thread cannot wait for
 * (DYNSEL_E_BUSY, a host accessor that it has open) is done all the same, when it can be. */
DYNSEL_CHECKED dynsel_status dynsel_submit_command_group_and_wait(dynsel_policy *policy,
                                                                  dynsel_group_fn group,
                                                                  void *args);

/*
 * What follows is called by group functions. Errors of all of them: DYNSEL_E_INVALID where a
 * pointer is NULL or the handler is not that of a running group function; the first error of any of
 * them is that of the submission. None blocks. Cost: linear in the requirements so far; a short
 * lock where a buffer is looked at.
 */

/**
 * Registers what a placeholder will use, through its own buffer.
 *
 * accessor: known by its address until the group function returns. Twice is as once; several on one
 *     buffer merge their modes.
 * Errors: DYNSEL_E_INVALID (no placeholder: a normal accessor is registered already; without a
 *     buffer; for local or host memory; a constant one that is not DYNSEL_ACCESS_READ; a range past
 *     the buffer's end; required before with another buffer), DYNSEL_E_STALE (the buffer was
 *     ended), DYNSEL_E_FULL (CONFIG_DYNSEL_MAX_REQUIREMENTS).
 */
dynsel_status dynsel_require(dynsel_handler *handler, const dynsel_accessor *accessor);

/**
 * dynsel_require() with a buffer, for this command group only.
 *
 * buffer: also in place of none; the accessor's own, if it has one, must be the same.
 */
dynsel_status dynsel_require_buffer(dynsel_handler *handler, dynsel_buffer buffer,
                                    const dynsel_accessor *accessor);

/**
 * A normal accessor to a buffer, registered for this command group.
 *
 * accessor: out; may be copied, and is of no use in another command group.
 */
dynsel_status dynsel_get_access(dynsel_handler *handler, dynsel_buffer buffer,
                                dynsel_access_mode mode, dynsel_access_target target,
                                dynsel_accessor *accessor);

/**
 * A normal accessor out of a placeholder, which is registered if it was not yet.
 *
 * placeholder: with a buffer of its own, or required before with one.
 * accessor: out; as of dynsel_get_access().
 */
dynsel_status dynsel_accessor_get_access(dynsel_handler *handler,
                                         const dynsel_accessor *placeholder,
                                         dynsel_accessor *accessor);

/**
 * Sets an argument of the kernel: a value, copied.
 *
 * index: the argument's number, from 0, below CONFIG_DYNSEL_MAX_ARGUMENTS. Whatever is set there
 *     again takes the place of it, as if that had never been; so do arguments of all other kinds.
 *     All up to the highest have to be set.
 * bytes: its size, not 0.
 * Errors: DYNSEL_E_FULL (the values together exceed CONFIG_DYNSEL_ARGUMENT_BYTES, or the index is
 *     too high).
 */
dynsel_status dynsel_set_arg_value(dynsel_handler *handler, uint32_t index, const void *value,
                                   size_t bytes);

/**
 * Sets an argument of the kernel: a buffer, or memory of each work group where the accessor is for
 * local memory.
 *
 * accessor: required before or after, a normal one, or one for local memory. That a placeholder is
 *     required is looked at when the group function has returned.
 */
dynsel_status dynsel_set_arg_accessor(dynsel_handler *handler, uint32_t index,
                                      const dynsel_accessor *accessor);

/**
 * Sets an argument of the kernel: a pointer, passed as it stands. Nothing is copied, and nothing is
 * known of what it points to: that stays there until the work is complete, and work that uses it on
 * other resources comes in the right order only where you wait in between, or where accessors give
 * an order.
 *
 * pointer: may be NULL, which every resource takes. Otherwise it goes to the resources that reach
 *     what it points to, and the policy passes over the others:
 *     - resources that work in the host's memory take any pointer;
 *     - so does a device that reaches all of that (aspect usm_system_allocations; in OpenCL SVM of
 *       the kind fine-grain system);
 *     - other devices take memory of dynsel_svm_alloc(), see <dynsel/svm.h>.
 * Errors: as above, and DYNSEL_E_FULL (the index is too high). Of the submission, where no resource
 *     is left, with the argument's number: DYNSEL_E_INVALID (no resource with a form reaches the
 *     memory, which is not of dynsel_svm_alloc()), DYNSEL_E_UNSUPPORTED (it is, and no device
 *     shares memory, or only with another domain), DYNSEL_E_BUSY (it has to be mapped, or unmapped,
 *     for a resource to use it).
 */
dynsel_status dynsel_set_arg_pointer(dynsel_handler *handler, uint32_t index, const void *pointer);

/** Sets an argument of the kernel: memory for each work group, in bytes, not 0. */
dynsel_status dynsel_set_arg_local(dynsel_handler *handler, uint32_t index, size_t bytes);

/**
 * Launches a kernel over a range of work items.
 *
 * kernel: must stay until the work is complete.
 * global: how many work items; none of the sizes 0.
 * local: how many in a work group, in as many dimensions, dividing `global`; NULL: chosen so that
 *     it stays the same for the same range.
 * offset: the first work item's number; NULL: 0.
 * Errors: DYNSEL_E_INVALID (that; more work items, or a number of one, than can be counted; a
 *     kernel without any form, or with one for devices and no name; something was launched).
 */
dynsel_status dynsel_parallel_for(dynsel_handler *handler, const dynsel_kernel *kernel,
                                  dynsel_range global, const dynsel_range *local,
                                  const dynsel_range *offset);

/** Launches a kernel with one work item. */
dynsel_status dynsel_single_task(dynsel_handler *handler, const dynsel_kernel *kernel);

/**
 * Launches a copy of elements, from the range of one accessor to that of another. Both are required
 * (before, where only that gives the buffer) and have as many dimensions, the same sizes and the
 * same size of elements; the parts of one buffer must not overlap.
 *
 * Errors: DYNSEL_E_INVALID (that, the subject being the accessor; a mode that only writes for
 *     `from`, or only reads for `to`; arguments were set; something was launched), DYNSEL_E_STALE.
 */
dynsel_status dynsel_copy(dynsel_handler *handler, const dynsel_accessor *from,
                          const dynsel_accessor *to);

/** Launches the filling of an accessor's range with copies of one element, which is copied here.
 * bytes: the size of the buffer's elements, at most 128 and a power of two. Errors:
 * as dynsel_copy(), and DYNSEL_E_FULL (CONFIG_DYNSEL_ARGUMENT_BYTES). */
dynsel_status dynsel_fill(dynsel_handler *handler, const dynsel_accessor *to, const void *element,
                          size_t bytes);

/**
 * Launches a C function, on the host or one of its workers only. It gets the arguments that were
 * set as a kernel's host form does (dynsel_launch.global says nothing).
 */
dynsel_status dynsel_host_task(dynsel_handler *handler, dynsel_kernel_fn function);

/**
 * Says what kind of work this is, for policies that learn. Without it, work is told by its group
 * function and kernel.
 *
 * id: not 0. words, count: copied; at most 8, and no more than the policy takes.
 * Errors: DYNSEL_E_INVALID (an id of 0), DYNSEL_E_FULL (more words).
 */
dynsel_status dynsel_set_key(dynsel_handler *handler, uint32_t id, const uint32_t *words,
                             size_t count);

#if CONFIG_DYNSEL_ASPECTS
/** The work runs only on resources that have all of these; on top of the kernel's own. */
dynsel_status dynsel_need_aspects(dynsel_handler *handler, dynsel_aspect_set aspects);
#endif

/**
 * How many bytes would have to be moved for a task to run on a resource: what its requirements read
 * and the resource's domain has no valid copy of; and of a command group what its ranges
 * (dynsel_set_range()) have staged, there and back. For policies, in try_select; and for programs,
 * with placeholders on a task of their own.
 *
 * task: with its `requirements`; inside try_select those of the command group, as it was given.
 * Returns: 0 for NULL, for a task of your own without requirements, and for buffers that were
 *     ended. That a device shares the host's memory is known when it has its first buffer; until
 *     then what it reads counts. From then on a new buffer is taken to be as the last one was,
 *     although data that are aligned worse may have to be moved.
 * Errors: none.
 * May block: no.
 * Context: any thread.
 * Cost: one short lock; linear in the requirements and staged pointers.
 */
uint64_t dynsel_bytes_to_move(const dynsel_resource *where, const dynsel_task *task);

DYNSEL_END_DECLS

#endif
