/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USECASES_MEMORY_H
#define USECASES_MEMORY_H

#include <stddef.h>

/* Zeroed memory that begins at a page; to be freed. If there is none, the program ends. */
void *memory_allocate(size_t bytes);

#endif
