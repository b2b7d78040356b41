/* SPDX-License-Identifier: Apache-2.0 */
/* The backends of this build, in the order in which they offer their resources. */
#ifndef DYNSEL_BACKENDS_DEFAULT_BACKENDS_H
#define DYNSEL_BACKENDS_DEFAULT_BACKENDS_H

#include <dynsel/backend.h>

/* Ends with NULL. */
extern dynsel_backend *const dynsel_default_backends[];

#endif
