/* SPDX-License-Identifier: Apache-2.0 */
/* The host as a device: for the backends whose work is C functions. */
#ifndef DYNSEL_ASPECTS_HOST_H
#define DYNSEL_ASPECTS_HOST_H

#include <dynsel/backend.h>

#if CONFIG_DYNSEL_ASPECTS
/* The operation `describe`. */
dynsel_status dynsel_describe_host(dynsel_backend *backend, const void *handle,
                                   dynsel_device *device);
#endif

#endif
