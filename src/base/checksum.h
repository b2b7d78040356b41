/* SPDX-License-Identifier: Apache-2.0 */
/* The checksum of what the library writes for other programs: the CRC-32 of IEEE 802.3, as zlib and
 * PNG have it. */
#ifndef DYNSEL_BASE_CHECKSUM_H
#define DYNSEL_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "port/likely.h"

/* Of bytes that come in several parts: before is that of the parts before, 0 at first. */
DYNSEL_RARE uint32_t dynsel_crc32(uint32_t before, const unsigned char *bytes, size_t count);

#endif
