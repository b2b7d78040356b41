/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The CRC units as resources: `(dynsel_resource){&acme_crc_backend, &unit}`. A task function for
 * them calls acme_crc_run() on `where->handle`.
 */
#ifndef ACME_CRC_UNIT_H
#define ACME_CRC_UNIT_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/backend.h>

DYNSEL_BEGIN_DECLS

/** One unit. In the sensor these are its registers; here the processor computes in their place. */
typedef struct acme_crc_unit {
    const char *name;
    uint32_t runs; /**< how often it worked */
} acme_crc_unit;

extern dynsel_backend acme_crc_backend;

/** The CRC-32 (IEEE 802.3) of `bytes` bytes. Never blocks. Context: a task function on this unit.
 * Cost: linear in `bytes`. */
uint32_t acme_crc_run(acme_crc_unit *unit, const void *data, size_t bytes);

DYNSEL_END_DECLS

#endif
