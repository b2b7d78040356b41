/* SPDX-License-Identifier: Apache-2.0 */
/* dynsel_opencl_configure() and dynsel_opencl_close(). */
#include <dynsel/opencl.h>

#include <string.h>

#include "backends/opencl/device_state.h"
#include "backends/opencl/selector_parser.h"
#include "base/fail.h"
#include "port/atomic.h"
#include "port/context.h"
#include "port/likely.h"

#if CONFIG_DYNSEL_COMMAND_GROUPS
#include "backends/opencl/device_memory.h"

/* NULL in programs without command groups, see backends/default_memory.h */
#pragma weak dynsel_opencl_count_copies
#pragma weak dynsel_opencl_end_memory
#endif
#if CONFIG_DYNSEL_SVM
#include "backends/opencl/svm_memory.h"

#pragma weak dynsel_opencl_count_shared
#endif

static dynsel_opencl_table *const table = &dynsel_opencl_known;

enum { MOST_PATIENCE_MS = 3600000 };

DYNSEL_RARE dynsel_status dynsel_opencl_configure(const dynsel_opencl_options *options)
{
    static const dynsel_opencl_options defaults;
    const dynsel_opencl_options *const wanted = options != NULL ? options : &defaults;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if ((wanted->queue_properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID,
                           "the library's queues are in order: make your own queue and give "
                           "dynsel_opencl_adopt() as `adapt`");
    }
    if ((unsigned)wanted->timing > DYNSEL_OPENCL_TIMES_BY_PROFILE) {
        return DYNSEL_FAIL_NUMBER(
            DYNSEL_E_INVALID, "timing is {}: use a DYNSEL_OPENCL_TIMES_... value", wanted->timing);
    }
    if ((unsigned)wanted->work_groups > DYNSEL_OPENCL_WORK_GROUPS_BY_RANGE) {
        return DYNSEL_FAIL_NUMBER(DYNSEL_E_INVALID,
                                  "work_groups is {}: use a DYNSEL_OPENCL_WORK_GROUPS_... value",
                                  wanted->work_groups);
    }
    if (wanted->patience_ms > MOST_PATIENCE_MS) {
        return DYNSEL_FAIL_NUMBER(DYNSEL_E_INVALID, "patience_ms is {}: use at most 3600000",
                                  wanted->patience_ms);
    }
    if (wanted->selector != NULL) {
        dynsel_opencl_selector parsed;
        const dynsel_status status = dynsel_opencl_parse(wanted->selector, __func__, NULL, &parsed);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
    dynsel_lock_acquire(&dynsel_opencl_lock);
    const bool in_use = table->discovered;
    if (!in_use) {
        table->options = *wanted;
    }
    dynsel_lock_release(&dynsel_opencl_lock);
    return in_use ? DYNSEL_FAIL(DYNSEL_E_BUSY,
                                "the backend is in use already: dynsel_opencl_close() first")
                  : DYNSEL_OK;
}

DYNSEL_RARE static dynsel_status refuse_to_close(uint32_t users, uint32_t copies)
{
    static const char function[] = "dynsel_opencl_close";
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    if (users != 0) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_BUSY,
                              "policies still use {} resources of this backend: "
                              "dynsel_policy_deinit() first",
                              users);
    }
    return copies != 0
               ? DYNSEL_FAIL_IN(function, DYNSEL_E_BUSY,
                                "buffers still have {} copies on devices of this backend: "
                                "dynsel_buffer_deinit() first",
                                copies)
               : DYNSEL_FAIL_IN(function, DYNSEL_E_BUSY,
                                "blocks of shared memory are left: dynsel_svm_free() first", 0);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
static uint32_t count_if_linked(uint32_t (*count)(void))
{
    return count != NULL ? count() : 0;
}
#endif

dynsel_status dynsel_opencl_close(void)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    dynsel_lock_acquire(&dynsel_opencl_lock);
    uint32_t users = 0;
    uint32_t copies = 0;
    uint32_t shared = 0;
    const uint32_t known = dynsel_word_load_relaxed(&table->known);
    for (uint32_t i = 0; i < known; i++) {
        users += dynsel_word_load_acquire(&table->entries[i].users);
    }
#if CONFIG_DYNSEL_COMMAND_GROUPS
    copies = count_if_linked(&dynsel_opencl_count_copies);
#endif
#if CONFIG_DYNSEL_SVM
    shared = count_if_linked(&dynsel_opencl_count_shared);
#endif
    const bool idle = users == 0 && copies == 0 && shared == 0;
    if (idle) {
#if CONFIG_DYNSEL_COMMAND_GROUPS
        void (*const end_memory)(void) = &dynsel_opencl_end_memory;
        if (end_memory != NULL) {
            end_memory();
        }
#endif
        dynsel_opencl_release_all();
        (void)memset(table, 0, sizeof(*table));
    }
    dynsel_lock_release(&dynsel_opencl_lock);
    return idle ? DYNSEL_OK : refuse_to_close(users, copies);
}
