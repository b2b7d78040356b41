/* SPDX-License-Identifier: Apache-2.0 */
/* The alignment of records in tables that several threads use at once. */
#ifndef DYNSEL_PORT_CACHE_LINE_H
#define DYNSEL_PORT_CACHE_LINE_H

/* A cache line, so that threads do not slow each other down, and a record whose members are in the
 * order of their use touches as few lines as it can. */
#if CONFIG_DYNSEL_CONTEXT_THREADS
#define DYNSEL_LINE_BYTES 64
#else
#define DYNSEL_LINE_BYTES sizeof(void *)
#endif

#endif
