/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of data movement. */
#include <dynsel/command_group.h>

#include "base/fail.h"
#include "data/buffers.h"
#include "data/domains.h"
#include "port/context.h"

dynsel_status dynsel_buffer_movement(dynsel_buffer buffer, dynsel_movement *movement)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (movement == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "movement is NULL");
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const dynsel_buffer_record *const record = dynsel_buffer_find(buffer);
    if (record != NULL) {
        *movement = record->movement;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return record != NULL ? DYNSEL_OK : dynsel_buffer_refuse(DYNSEL_TEXT(__func__), NULL, buffer);
}

static bool is_resource(const dynsel_resource *where)
{
    return where != NULL && where->backend != NULL && where->backend->ops != NULL;
}

dynsel_status dynsel_domain_movement(const dynsel_resource *where, dynsel_movement *movement)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (!is_resource(where) || movement == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the resource, its backend or movement is NULL");
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const uint32_t domain =
        dynsel_domain_find(where->backend, dynsel_domain_ask(where->backend, where->handle).number);
    *movement = domain != DYNSEL_HOST_DOMAIN ? dynsel_domains[domain - 1].movement
                                             : (dynsel_movement){.bytes_in = 0};
    dynsel_spinlock_release(&dynsel_memory_lock);
    return DYNSEL_OK;
}
