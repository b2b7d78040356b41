/* SPDX-License-Identifier: Apache-2.0 */
/** Everything that is configured into this build of dynsel. Each of these headers can also be
 * included alone. */
#ifndef DYNSEL_DYNSEL_H
#define DYNSEL_DYNSEL_H

#include <dynsel/aspects.h>
#include <dynsel/assert.h>
#include <dynsel/backend.h>
#include <dynsel/config.h>
#include <dynsel/device.h>
#include <dynsel/error.h>
#include <dynsel/execution_info.h>
#include <dynsel/iterators.h>
#include <dynsel/leaves.h>
#include <dynsel/passed_directly.h>
#include <dynsel/policy.h>
#include <dynsel/repeat.h>
#include <dynsel/resource.h>
#include <dynsel/resource_set.h>
#include <dynsel/resource_states.h>
#include <dynsel/selection.h>
#include <dynsel/statistics.h>
#include <dynsel/status.h>
#include <dynsel/submission.h>
#include <dynsel/targets.h>
#include <dynsel/task.h>
#include <dynsel/trace.h>
#include <dynsel/version.h>

#if CONFIG_DYNSEL_COMMAND_GROUPS
#include <dynsel/accessor.h>
#include <dynsel/arguments.h>
#include <dynsel/buffer.h>
#include <dynsel/command_group.h>
#include <dynsel/host_accessor.h>
#include <dynsel/kernel.h>
#include <dynsel/memory.h>
#include <dynsel/range.h>
#endif
#if CONFIG_DYNSEL_SVM
#include <dynsel/svm.h>
#endif
#if CONFIG_DYNSEL_PROGRESS_THREAD
#include <dynsel/progress_thread.h>
#endif
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
#include <dynsel/fixed_resource.h>
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
#include <dynsel/dynamic_load.h>
#endif
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
#include <dynsel/round_robin.h>
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
#include <dynsel/auto_tune.h>
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
#include <dynsel/earliest_finish.h>
#if CONFIG_DYNSEL_LEARNED_TABLES
#include <dynsel/learned.h>
#endif
#endif
#if CONFIG_DYNSEL_BACKEND_INLINE
#include <dynsel/inline.h>
#endif
#if CONFIG_DYNSEL_BACKEND_THREADS
#include <dynsel/threads.h>
#endif
#if CONFIG_DYNSEL_BACKEND_OPENCL
#include <dynsel/opencl.h>
#endif
#if CONFIG_DYNSEL_BACKEND_MPI
#include <dynsel/mpi.h>
#endif

#endif
