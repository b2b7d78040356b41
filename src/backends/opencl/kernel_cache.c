/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/kernel_cache.h"

#include <string.h>

#include "backends/opencl/device_state.h"
#include "base/fail.h"
#include "port/likely.h"
#include "port/lock.h"
#include "port/pause.h"

dynsel_word dynsel_opencl_releases;

/* Only grows. The lock guards additions; readers load `known` first. */
static struct {
    dynsel_word known;
    dynsel_opencl_identity identities[CONFIG_DYNSEL_OPENCL_MAX_KERNELS];
    dynsel_opencl_kernel kernels[CONFIG_DYNSEL_OPENCL_MAX_KERNELS]
                                [CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
} table;
static dynsel_lock table_lock = DYNSEL_LOCK_INITIALIZER;

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_opencl_kernels_forget(void)
{
    dynsel_lock_renew(&table_lock);
    (void)memset(&table, 0, sizeof(table));
}
#endif

/* CONFIG_DYNSEL_OPENCL_MAX_KERNELS: it is not in the table. */
static inline uint32_t find(const dynsel_kernel *kernel)
{
    const uint32_t known = dynsel_word_load_acquire(&table.known);
    for (uint32_t i = 0; i < known; i++) {
        if (dynsel_opencl_is_identity(&table.identities[i], kernel)) {
            return i;
        }
    }
    return CONFIG_DYNSEL_OPENCL_MAX_KERNELS;
}

DYNSEL_RARE static uint32_t add(const dynsel_kernel *kernel)
{
    dynsel_lock_acquire(&table_lock);
    uint32_t index = find(kernel); /* another thread may have added it */
    const uint32_t known = dynsel_word_load_relaxed(&table.known);
    if (index == CONFIG_DYNSEL_OPENCL_MAX_KERNELS && known < CONFIG_DYNSEL_OPENCL_MAX_KERNELS) {
        index = known;
        table.identities[index] = dynsel_opencl_identity_of(kernel);
        dynsel_word_store_release(&table.known, known + 1);
    }
    dynsel_lock_release(&table_lock);
    return index;
}

DYNSEL_RARE static dynsel_status refuse_full(const dynsel_kernel *kernel)
{
    (void)kernel; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_FULL,
        .number = CONFIG_DYNSEL_OPENCL_MAX_KERNELS + 1,
        .subject = DYNSEL_TEXT(kernel->name),
        .detail = DYNSEL_TEXT(DYNSEL_OPTION(
            OPENCL_MAX_KERNELS, "and there are as many kernels: set it to {} or more"))});
}

dynsel_status dynsel_opencl_take_kernel(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                        dynsel_opencl_kernel **taken)
{
    uint32_t index = find(kernel);
    if (!DYNSEL_LIKELY(index < CONFIG_DYNSEL_OPENCL_MAX_KERNELS)) {
        index = add(kernel);
        if (index == CONFIG_DYNSEL_OPENCL_MAX_KERNELS) {
            return refuse_full(kernel);
        }
    }
    *taken = &table.kernels[index][entry - dynsel_opencl_known.entries];
    for (uint32_t round = 0; dynsel_word_exchange(&(*taken)->lock, 1) != 0; round++) {
        dynsel_pause(round);
    }
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_OPENCL_WORK_GROUP_TRIALS
static void forget_trial(const dynsel_opencl_kernel *built)
{
    if (built->trials.event != NULL) {
        (void)clReleaseEvent(built->trials.event);
    }
}
#else
static void forget_trial(const dynsel_opencl_kernel *built)
{
    (void)built;
}
#endif

void dynsel_opencl_release_kernels(void)
{
    const uint32_t known = dynsel_word_load_relaxed(&table.known);
    for (uint32_t i = 0; i < known; i++) {
        for (uint32_t j = 0; j < CONFIG_DYNSEL_OPENCL_MAX_DEVICES; j++) {
            const dynsel_opencl_kernel *const built = &table.kernels[i][j];
            if ((built->stage == DYNSEL_OPENCL_COMPILED || built->stage == DYNSEL_OPENCL_BUILT) &&
                !dynsel_opencl_is_lost(&dynsel_opencl_known.entries[j])) {
                forget_trial(built);
                (void)clReleaseKernel(built->kernel);
                (void)clReleaseProgram(built->program);
            }
        }
    }
    /* what no kernel used is zero, and on a host no page of it exists */
    (void)memset(table.kernels, 0, known * sizeof(table.kernels[0]));
    (void)memset(table.identities, 0, known * sizeof(table.identities[0]));
    dynsel_word_store_relaxed(&table.known, 0);
}
