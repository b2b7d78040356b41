/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Command groups: work that declares which data it uses, and runs on the resource that the policy
 * selects, once the data are resident there.
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
 * arguments, and launches exactly one command. An error in it becomes the error of the submission,
 * even if it does not return the status, and nothing is started then. The policy can weigh the
 * registered requirements (dynsel_bytes_to_move()).
 *
 * Order: a command group comes after those that were submitted before and write data that it uses,
 * or use data that it writes, on any policy and device; command groups that only read the same data
 * run concurrently. It is accepted immediately and started as soon as its dependencies allow: by
 * the submitting call, or by a later call of the library (dynsel_progress(), submitting calls,
 * waits, and opening a host accessor), not in between: a program that makes no calls starts
 * nothing. When failed work was to write the data that it reads, it fails too, with
 * DYNSEL_E_DEPENDENCY and the first cause. Where that work did not begin, this command group does
 * not begin either, and work that is submitted once the failure is known finds the earlier
 * contents. Where it had begun, the contents are lost, until a discarding mode replaces them.
 * (Where it was started on the same device before the failure was known, it may have begun there,
 * or a driver fails it as well: submit it again.)
 *
 * Time: the time that policies learn for a command group includes its copies in, unless they want
 * it without and the backend can tell (DYNSEL_TASK_WITHOUT_COPIES). A later copy back, because the
 * host, the end of a buffer or work elsewhere needs the data, is reported to the policy of the
 * command group that wrote them last, if it requests DYNSEL_TASK_READBACK_TIME. Then the copy
 * checks each slot of CONFIG_DYNSEL_MAX_IN_FLIGHT, and reads the clock.
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

/** Records a command group; exists while the group function runs. */
typedef struct dynsel_handler dynsel_handler;

/** args: of the submitting call; used only while that runs. Returns DYNSEL_OK, or any failure,
 * which cancels the submission. May submit other work, but not wait: a call that would wait (waits,
 * submits that wait for the end, host accessors, ends of buffers, dynsel_svm_map() and _unmap(),
 * dynsel_kernel_prepare(), dynsel_progress_thread_stop()) is DYNSEL_E_IN_TASK. */
typedef dynsel_status (*dynsel_group_fn)(dynsel_handler *handler, void *args);

/**
 * Submits a command group: runs the group function, lets the policy choose among the resources that
 * have a form of its command, and starts it when its data may be used.
 *
 * submission: as in dynsel_submit(); NULL: detached.
 * Errors: the status or the errors of the group function (below); DYNSEL_E_INVALID (NULL; no
 * command or two commands launched; a placeholder that is used but not required, or required
 * without a
 *     buffer, or with two different buffers: the subject is its name), DYNSEL_E_STALE (a buffer was
 *     ended), DYNSEL_E_FULL (CONFIG_DYNSEL_MAX_REQUIREMENTS, _MAX_ARGUMENTS, _ARGUMENT_BYTES,
 *     _MAX_DOMAINS; and where waiting does not help, _MAX_IN_FLIGHT, _MAX_READERS,
 *     _MAX_DEPENDENCIES), DYNSEL_E_UNINITIALIZED, DYNSEL_E_UNSUPPORTED (no resource has a form; a
 *     policy that cannot select), DYNSEL_E_ASPECT, DYNSEL_E_OUT_OF_SERVICE. Nothing was accepted
 *     then. The wait or the submission group returns later failures: also that a device's memory is
 *     full (DYNSEL_E_FULL).
 * May block: as dynsel_submit(); also while a kernel that was not prepared is built.
 * Context: any thread; group functions and task functions, where it does not wait.
 * Cost: that of a submission, one short lock, and a check of each use of each buffer; and that of
 *     starting other command groups that are ready, but nothing for pending ones.
 */
DYNSEL_CHECKED dynsel_status dynsel_submit_command_group(dynsel_policy *policy,
                                                         dynsel_group_fn group, void *args,
                                                         dynsel_submission *submission);

/** dynsel_submit_command_group() that does not wait for room: DYNSEL_E_FULL as soon as a table is
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
 * (DYNSEL_E_BUSY, a host accessor that it has open) is still done, when it can be. */
DYNSEL_CHECKED dynsel_status dynsel_submit_command_group_and_wait(dynsel_policy *policy,
                                                                  dynsel_group_fn group,
                                                                  void *args);

/*
 * Group functions call the following functions. Errors of all of them: DYNSEL_E_INVALID where a
 * pointer is NULL or the handler is not that of a running group function; the first error of any of
 * them is that of the submission. None blocks. Cost: linear in the requirements so far; a short
 * lock where a buffer is accessed.
 */

/**
 * Orders this command group behind a submission, for work that the library does not order itself:
 * it uses the same memory through pointers (dynsel_set_arg_pointer()), ranges, or copies from and
 * to memory of the program.
 *
 * submission: of any policy and resource: a task or a command group; read now only. Its results
 *     are visible to this command group. If it fails, this command group does not begin, and ends
 *     with DYNSEL_E_DEPENDENCY and the first cause, as behind work that was to write its data; so
 *     does what depends on it in turn. (Where it was started on the same device before the failure
 *     was known, it may have begun.) The failure of a submission that was waited for is known to
 *     the caller: this command group does not wait for it and does not fail. The handle that the
 *     submit of this command group will fill in still stands for what it held before.
 * Errors: DYNSEL_E_INVALID (never submitted), DYNSEL_E_STALE (released, waited for through a copy,
 *     or of the parent of this process), DYNSEL_E_FULL (CONFIG_DYNSEL_MAX_DEPENDENCIES, which
 *     counts those that are not complete; the submit waits if they leave too little room for what
 *     buffers add).
 * Cost: a compare with each earlier one of the group; the start waits for the end of a task, and of
 *     a command group on another device; behind one on the same in-order resource it is started at
 *     once.
 * Source: SYCL 2020, 4.9.4.1, handler::depends_on().
 */
dynsel_status dynsel_depends_on(dynsel_handler *handler, const dynsel_submission *submission);

/**
 * Registers the use of a placeholder's own buffer.
 *
 * accessor: identified by its address until the group function returns. Repetition has no effect;
 *     the modes of several accessors to one buffer are merged.
 * Errors: DYNSEL_E_INVALID (no placeholder: a normal accessor is registered already; without a
 *     buffer; for local or host memory; a constant one that is not DYNSEL_ACCESS_READ; a range past
 *     the buffer's end; required before with another buffer), DYNSEL_E_STALE (the buffer was
 *     ended), DYNSEL_E_FULL (CONFIG_DYNSEL_MAX_REQUIREMENTS).
 */
dynsel_status dynsel_require(dynsel_handler *handler, const dynsel_accessor *accessor);

/**
 * dynsel_require() with a buffer, for this command group only.
 *
 * buffer: also for an accessor without a buffer; if the accessor has a buffer, it must be the same.
 */
dynsel_status dynsel_require_buffer(dynsel_handler *handler, dynsel_buffer buffer,
                                    const dynsel_accessor *accessor);

/**
 * A normal accessor to a buffer, registered for this command group.
 *
 * accessor: out; may be copied, and is invalid in another command group.
 */
dynsel_status dynsel_get_access(dynsel_handler *handler, dynsel_buffer buffer,
                                dynsel_access_mode mode, dynsel_access_target target,
                                dynsel_accessor *accessor);

/**
 * A normal accessor from a placeholder, which is registered if it was not yet.
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
 * index: the argument's number, from 0, below CONFIG_DYNSEL_MAX_ARGUMENTS. Setting an argument
 *     again, of any kind, replaces it without a trace. All arguments up to the highest must be set.
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
 * accessor: required before or after, a normal one, or one for local memory. Whether a placeholder
 *     is required is checked when the group function has returned.
 */
dynsel_status dynsel_set_arg_accessor(dynsel_handler *handler, uint32_t index,
                                      const dynsel_accessor *accessor);

/**
 * Sets an argument of the kernel: a pointer, passed unchanged. Nothing is copied, and the library
 * does not track the memory that it points to: it must stay valid until the work is complete, and
 * work that uses it on other resources is ordered only if you wait in between, or if accessors
 * order it.
 *
 * pointer: may be NULL, which every resource accepts. Otherwise only resources that reach its
 *     memory may be used, and the policy excludes the others:
 *     - resources that work in the host's memory accept any pointer;
 *     - so does a device that reaches all of the host's memory (aspect usm_system_allocations; in
 *     OpenCL SVM of
 *       the kind fine-grain system);
 *     - other devices accept memory of dynsel_svm_alloc(), see <dynsel/svm.h>.
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
 * Launches a kernel over a range of work-items.
 *
 * kernel: must stay until the work is complete.
 * global: the number of work-items. Where a size is 0, the kernel is not launched: the command
 *     group waits for what it depends on, fails if that failed, and is complete then, without a
 *     call of its resource. It changes no buffer, whatever its accessors say.
 * local: the size of a work-group, in as many dimensions, dividing `global`; NULL: chosen, see
 *     <dynsel/opencl.h>.
 * offset: the number of the first work-item; NULL: 0.
 * Errors: DYNSEL_E_INVALID (a violation of these rules; a number of work-items, or of one
 *     work-item, that overflows; a kernel without any form, or with one for devices and no name; a
 *     command was launched before).
 */
dynsel_status dynsel_parallel_for(dynsel_handler *handler, const dynsel_kernel *kernel,
                                  dynsel_range global, const dynsel_range *local,
                                  const dynsel_range *offset);

/** Launches a kernel with one work-item. */
dynsel_status dynsel_single_task(dynsel_handler *handler, const dynsel_kernel *kernel);

/**
 * Launches a copy of elements, from the range of one accessor to that of another. Both are required
 * (before, if the require sets the buffer) and have the same number of dimensions, the same sizes
 * and the same element size; parts of one buffer must not overlap. Without elements nothing is
 * copied or filled, as in dynsel_parallel_for().
 *
 * Errors: DYNSEL_E_INVALID (that, the subject being the accessor; a mode that only writes for
 *     `from`, or only reads for `to`; arguments were set; something was launched), DYNSEL_E_STALE.
 */
dynsel_status dynsel_copy(dynsel_handler *handler, const dynsel_accessor *from,
                          const dynsel_accessor *to);

/**
 * Launches a copy from memory of the program into the range of an accessor: the elements of the
 * range one after the other, without gaps.
 *
 * from: read until the work is complete, or until its failure is known. On a device it is staged,
 *     as the memory of a range (dynsel_set_range()), and counts in dynsel_get_range_statistics().
 *     The library does not order its use: see dynsel_depends_on(). NULL: only with 0 bytes.
 * bytes: those of the accessor's range. 0 copies nothing.
 * to: as in dynsel_copy().
 * Errors: DYNSEL_E_INVALID (another number of bytes, whose right value is in the text; memory that
 *     overlaps the buffer's own on the host; a mode that only reads; arguments were set; something
 *     was launched), DYNSEL_E_STALE. Of the submission, where no resource of the host could do it:
 *     those of a range, as DYNSEL_E_FULL (more than CONFIG_DYNSEL_STAGING_BYTES).
 * Cost: on a device a transfer to staging memory, and a copy from there to that of the buffer.
 * Source: SYCL 2020, 4.9.4.3 "Explicit memory operations", handler::copy().
 */
dynsel_status dynsel_copy_from_memory(dynsel_handler *handler, const void *from, size_t bytes,
                                      const dynsel_accessor *to);

/** The same from the range of an accessor into memory of the program, which is written until the
 * work is complete. A mode that only writes is DYNSEL_E_INVALID. */
dynsel_status dynsel_copy_to_memory(dynsel_handler *handler, const dynsel_accessor *from, void *to,
                                    size_t bytes);

/** Launches the filling of an accessor's range with copies of one element, which is copied here.
 * bytes: the size of the buffer's elements, at most 128 and a power of two. Errors:
 * as dynsel_copy(), and DYNSEL_E_FULL (CONFIG_DYNSEL_ARGUMENT_BYTES). */
dynsel_status dynsel_fill(dynsel_handler *handler, const dynsel_accessor *to, const void *element,
                          size_t bytes);

/**
 * Launches a C function, on the host or one of its workers only. It gets the arguments that were
 * set as a kernel's host form does (dynsel_launch.global is not set).
 */
dynsel_status dynsel_host_task(dynsel_handler *handler, dynsel_kernel_fn function);

/**
 * Sets the kind of this work, for policies that learn. Without it, the id of the kernel identifies
 * the kind; if the kernel has none, the group function and the kernel, by their addresses.
 *
 * id: not 0. words, count: copied; at most 8, and no more than the policy accepts.
 * Errors: DYNSEL_E_INVALID (an id of 0), DYNSEL_E_FULL (more words).
 */
dynsel_status dynsel_set_key(dynsel_handler *handler, uint32_t id, const uint32_t *words,
                             size_t count);

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
/** Sets how much work this is, as dynsel_task.amount. Without it, a kernel's number of work-items
 * counts, and the bytes of a copy or fill. */
dynsel_status dynsel_set_amount(dynsel_handler *handler, uint64_t amount);
#endif

#if CONFIG_DYNSEL_TIME_LIMITS
/** Sets the longest time that the resource may take for the work, in nanoseconds, with its copies
 * in: as dynsel_task.limit_ns. It does not count while the command group waits to be started. */
dynsel_status dynsel_set_time_limit(dynsel_handler *handler, uint64_t limit_ns);
#endif

#if CONFIG_DYNSEL_REPEAT
/**
 * The work may be repeated elsewhere if its device fails, see <dynsel/repeat.h>. What it reads is
 * brought to the host's memory before it starts, if it is not there; what it reads and writes is
 * kept, a block for each buffer. So the work starts when the work that it depends on is over, and
 * not behind that on the same device. What depends on it, and what uses data that it copies in,
 * likewise starts when it is over.
 *
 * The submit fails, and nothing is started, with DYNSEL_E_UNSUPPORTED (the group has ranges or
 * pointers to shared virtual memory), DYNSEL_E_INVALID (a buffer that it reads and writes has more
 * than CONFIG_DYNSEL_KEPT_BYTES, or there are more of them than CONFIG_DYNSEL_KEPT_COUNT) or
 * DYNSEL_E_FULL (no second slot or not enough blocks are free now; the submit does not wait for
 * them).
 */
dynsel_status dynsel_set_repeatable(dynsel_handler *handler);
#endif

#if CONFIG_DYNSEL_ASPECTS
/** The work runs only on resources that have all of these; on top of the kernel's own. */
dynsel_status dynsel_need_aspects(dynsel_handler *handler, dynsel_aspect_set aspects);
#endif

/**
 * The number of bytes that would have to be copied for a task to run on a resource: the data that
 * its requirements read and that are not resident in the resource's domain; and for a command group
 * the bytes that its ranges (dynsel_set_range()) would stage, in both directions. For policies, in
 * try_select; and for programs,
 * with placeholders on a task of their own.
 *
 * task: with its `requirements`; inside try_select those of the command group, as it was given.
 * Returns: 0 for NULL, for a task of your own without requirements, and for buffers that were
 *     ended. That a device shares the host's memory is known when it has its first buffer; until
 *     then the data that it reads count. From then on a new buffer is assumed to be like the
 *     previous one, although less aligned data may have to be copied.
 * Errors: none.
 * May block: no.
 * Context: any thread.
 * Cost: one short lock; linear in the requirements and staged pointers.
 */
uint64_t dynsel_bytes_to_move(const dynsel_resource *where, const dynsel_task *task);

DYNSEL_END_DECLS

#endif
