/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory operations of the backends of this build. The backends refer to them weakly, so that
 * the linker includes them, and everything they need, only in programs that contain this list,
 * because they use command groups. In other programs the `memory` of the backends is NULL.
 */
#ifndef DYNSEL_BACKENDS_DEFAULT_MEMORY_H
#define DYNSEL_BACKENDS_DEFAULT_MEMORY_H

#include <dynsel/memory.h>

/* Ends with NULL. Nothing reads it: only its presence in the program matters. */
extern const dynsel_memory_ops *const dynsel_default_memory[];

/* For files that use these operations: every program with command groups contains one of them.
 * file: its name, because the files may be compiled as one. */
#define DYNSEL_TAKE_DEFAULT_MEMORY(file)                                                           \
    __attribute__((used)) static const dynsel_memory_ops *const *const file##_takes =              \
        dynsel_default_memory

#endif
