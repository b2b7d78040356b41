/* SPDX-License-Identifier: Apache-2.0 */
#include "serving/order.h"

#include "base/fail.h"

dynsel_status dynsel_served_order_fail(uint32_t number)
{
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_serve"), DYNSEL_E_DEPENDENCY,
                          DYNSEL_TEXT("operation {} failed, which it was to follow"), number);
}

static dynsel_status refuse(uint32_t number)
{
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_serve"), DYNSEL_E_INVALID,
                          DYNSEL_TEXT("what operation {} follows is torn"), number);
}

static bool has(const dynsel_served_order *order, uint32_t number)
{
    for (uint32_t i = 0; i < order->awaits_count; i++) {
        if (order->awaits[i] == number) {
            return true;
        }
    }
    return false;
}

dynsel_status dynsel_served_order_await(dynsel_served_order *order, uint32_t number)
{
    if (has(order, number)) {
        return DYNSEL_OK;
    }
    if (order->awaits_count == DYNSEL_SERVED_AWAITS) {
        return DYNSEL_E_AGAIN;
    }
    order->awaits[order->awaits_count++] = number;
    return DYNSEL_OK;
}

static dynsel_status follow(dynsel_served_order *order, uint32_t number, bool waits)
{
    const dynsel_served *const operation = dynsel_served_at(number);
    const dynsel_served_state state = (dynsel_served_state)operation->state;
    if (state == DYNSEL_SERVED_NOTHING || state == DYNSEL_SERVED_ENDED) {
        return operation->failed && !order->ignores_failures ? dynsel_served_order_fail(number)
                                                             : DYNSEL_OK;
    }
    if (waits) {
        return dynsel_served_order_await(order, number);
    }
    if (state == DYNSEL_SERVED_RUNNING) {
        order->behind[order->behind_count++] = &operation->of.submission;
        return DYNSEL_OK;
    }
    return has(order, number) ? DYNSEL_OK : DYNSEL_E_AGAIN;
}

dynsel_status dynsel_served_order_read(dynsel_served_order *order, const dynsel_mpi_header *header,
                                       dynsel_served_reader rest, bool waits)
{
    dynsel_status result = DYNSEL_OK;
    if (header->after_count > (uint32_t)DYNSEL_MOST_AFTER ||
        rest.left != header->after_count * sizeof(uint32_t)) {
        return refuse(header->operation);
    }
    uint32_t number = 0;
    while (dynsel_served_reader_take(&rest, &number, sizeof(number))) {
        if (number >= DYNSEL_MPI_OPERATIONS || number == header->operation) {
            return refuse(header->operation);
        }
        const dynsel_status status = follow(order, number, waits);
        if (status == DYNSEL_E_DEPENDENCY) {
            return status;
        }
        result = status == DYNSEL_OK ? result : status;
    }
    return result;
}

void dynsel_served_order_keep(const dynsel_served_order *order, dynsel_served *operation)
{
    for (uint32_t i = 0; i < order->awaits_count; i++) {
        dynsel_served_await(operation, order->awaits[i]);
    }
}
