/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sets of resources that change: a resource is added to a policy or removed from it while it works,
 * or another set takes the place of the whole one, for devices that come and go.
 *
 * The policy is initialized with `may_change` of dynsel_options. All functions of the policy may be
 * called meanwhile from other threads, but for dynsel_policy_deinit(); only one thread at a time
 * changes the set of a policy, another gets DYNSEL_E_BUSY.
 *
 * Indexes are stable: a resource keeps its place in dynsel_get_resources() after it was removed,
 * and no other resource gets it. The same resource (backend, handle, and what `adapt` makes of it)
 * comes back to its place, with its statistics and with what the policy learned of it. So
 * selections, submissions, statistics and traces name the same resource as long as the policy
 * lives, and a policy may have CONFIG_DYNSEL_MAX_RESOURCES different resources in its life.
 *
 * The object behind a handle stays the program's, and has to exist until the policy is
 * deinitialized and the buffers that its work used are ended, also after the removal: other threads
 * may be in the middle of a call that looks at it (its name, its memory domain, whether it is
 * lost). No work is started, polled or waited for there any more, so the device may be turned off.
 * dynsel_opencl_close() and dynsel_threads_stop() end the objects of their resources: call them
 * after the end of the policy, because later ones may have the same addresses.
 *
 * Work that the program runs itself on a selection (dynsel_report()) is not waited for, and may be
 * reported after the removal.
 *
 * The hook `resource_changed` of dynsel_options hears of a removal, and of a resource that was
 * added or comes back: DYNSEL_RESOURCE_REMOVED is the state before.
 *
 * A policy of the program's takes part if it has the operation `add_resource`, see
 * dynsel_policy_ops.
 *
 * Source: seed 002, "Policy": its resources are those of the initialization; the design has sets
 * that change.
 */
#ifndef DYNSEL_RESOURCE_SET_H
#define DYNSEL_RESOURCE_SET_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/policy.h>
#include <dynsel/resource_states.h>

#if CONFIG_DYNSEL_RESOURCE_SETS

DYNSEL_BEGIN_DECLS

/**
 * Adds a resource, which may be chosen from now on; one that was removed comes back to its place,
 * in service and with no failures counted.
 *
 * resource: copied. Its handle is adapted with `adapt` of the policy's options.
 * index: out, its place in dynsel_get_resources(); may be NULL; unchanged on failure.
 * Errors: DYNSEL_E_INVALID (NULL, a copied policy; the policy has the resource already; a resource
 *     without a backend, or with one that lacks operations; a handle that its backend does not
 *     know), DYNSEL_E_UNINITIALIZED, DYNSEL_E_CONTEXT (an interrupt), DYNSEL_E_IN_TASK (a task or
 *     group function), DYNSEL_E_UNSUPPORTED (the policy was initialized without `may_change`; the
 *     backend does not report what the policy needs, or cannot use the device), DYNSEL_E_FULL (the
 *     policy has had CONFIG_DYNSEL_MAX_RESOURCES different resources), DYNSEL_E_ASPECT (the device
 *     lacks an aspect that this build promises, or matches none of its targets), DYNSEL_E_BUSY
 *     (another thread changes the set), and what the backend and the policy report. Nothing was
 *     changed then.
 * May block: yes, where the backend opens its device, and for another such call.
 * Context: any thread.
 * Cost: linear in the resources; for auto_tune also in CONFIG_DYNSEL_MAX_TUNED_TASKS, because each
 *     kind of task tries the resource.
 */
DYNSEL_CHECKED dynsel_status dynsel_policy_add_resource(dynsel_policy *policy,
                                                        const dynsel_resource *resource,
                                                        size_t *index);

/**
 * Removes a resource: gives it no new work, lets its work end, copies data to the host's memory of
 * which it has the only valid copy, and ends the use of the backend.
 *
 * The data stay where they are if another resource of the policy has the same memory domain. The
 * memory of a lost device is not asked for: what only it had is lost.
 *
 * index: its place in dynsel_get_resources().
 * timeout_ns: nanoseconds from now on; 0 removes it if none of its work is in flight; UINT64_MAX
 *     has no limit. It bounds the waits, not a driver's copy.
 * Errors: DYNSEL_E_INVALID (NULL, a copied policy, index past the table), DYNSEL_E_UNINITIALIZED,
 *     DYNSEL_E_CONTEXT, DYNSEL_E_IN_TASK, DYNSEL_E_UNSUPPORTED (without `may_change`),
 *     DYNSEL_E_STALE (it was removed already), DYNSEL_E_NO_RESOURCE (it is the last resource of the
 *     policy, or the last one in service: add another one before), DYNSEL_E_BUSY (another thread
 *     changes the set): nothing was changed then.
 *     DYNSEL_E_TIMEOUT (work there is in flight, or its submissions were neither waited for nor
 *     released; their number is in the error text; or data were not at the host in time),
 *     DYNSEL_E_FULL (no slot was free for the copy), DYNSEL_E_DEVICE (a copy failed): the resource
 *     drains or is out of service then. Call again to go on, dynsel_resource_reinstate() to keep
 *     it, or dynsel_resource_give_up() where its work does not end, or copies fail for good.
 * May block: yes, up to the time, and for the copies.
 * Context: any thread. A thread that holds submissions of the resource waits in vain for itself.
 * Cost: linear in the resources, and with command groups in CONFIG_DYNSEL_MAX_BUFFERS.
 */
DYNSEL_CHECKED dynsel_status dynsel_policy_remove_resource(dynsel_policy *policy, size_t index,
                                                           uint64_t timeout_ns);

/**
 * Replaces the set of resources, such as by that of another selector: keeps the resources that are
 * in both sets, adds the new ones, and then removes the others as dynsel_policy_remove_resource().
 * So some resource can be chosen at any time.
 *
 *     dynsel_resource found[4];
 *     size_t count = 0;
 *     status = dynsel_opencl_select("type=gpu", found, 4, &count);
 *     const dynsel_options gpus = {.resources = found, .count = count};
 *     status = dynsel_policy_set_resources(policy, &gpus, timeout_ns);
 *
 * A resource that stays keeps its state, but one that drains is in service again.
 *
 * options: as for an init function, borrowed during the call; NULL is the same as all zero.
 *     `resource_changed` and `may_change` are ignored; `adapt` NULL: that of the initialization.
 * timeout_ns: as dynsel_policy_remove_resource().
 * Errors: those of dynsel_policy_init() for options, and DYNSEL_E_UNINITIALIZED, DYNSEL_E_CONTEXT,
 *     DYNSEL_E_IN_TASK, DYNSEL_E_UNSUPPORTED, DYNSEL_E_FULL, DYNSEL_E_BUSY as
 *     dynsel_policy_add_resource(), DYNSEL_E_NO_RESOURCE (no resource of the set would be in
 *     service): nothing was changed then.
 *     DYNSEL_E_TIMEOUT, DYNSEL_E_DEVICE, and DYNSEL_E_FULL for a copy: the new set is in service,
 *     and a resource that is not in it could not be removed yet: it gets no new work. Call again to
 *     go on.
 * May block: yes. Context: any thread.
 * Cost: linear in the resources of both sets, times those of the policy; otherwise as the two
 *     functions above.
 */
DYNSEL_CHECKED dynsel_status dynsel_policy_set_resources(dynsel_policy *policy,
                                                         const dynsel_options *options,
                                                         uint64_t timeout_ns);

DYNSEL_END_DECLS

#endif

#endif
