/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the backends of this build do with memory. Their tables of operations name it weakly: the
 * linker takes it, and all that it needs, only for programs that have this list, because they use
 * command groups. Without it `memory` is NULL in their operations.
 */
#ifndef DYNSEL_BACKENDS_DEFAULT_MEMORY_H
#define DYNSEL_BACKENDS_DEFAULT_MEMORY_H

#include <dynsel/memory.h>

/* Ends with NULL. That somebody has it is all that counts. */
extern const dynsel_memory_ops *const dynsel_default_memory[];

/* For the files of src/groups that ask backends for these operations: one of them is in every
 * program that uses command groups. */
#define DYNSEL_TAKE_DEFAULT_MEMORY                                                                 \
    __attribute__((used)) static const dynsel_memory_ops *const *const taken = dynsel_default_memory

#endif
