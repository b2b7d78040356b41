/* SPDX-License-Identifier: Apache-2.0 */
/* The aspects that tell what a device is, as sets; empty where the build leaves one out. */
#ifndef DYNSEL_ASPECTS_DEVICE_KINDS_H
#define DYNSEL_ASPECTS_DEVICE_KINDS_H

#include <dynsel/aspects.h>

#if CONFIG_DYNSEL_ASPECT_GPU
#define DYNSEL_GPU_ASPECT DYNSEL_ASPECT_BIT(gpu)
#else
#define DYNSEL_GPU_ASPECT 0
#endif
#if CONFIG_DYNSEL_ASPECT_CPU
#define DYNSEL_CPU_ASPECT DYNSEL_ASPECT_BIT(cpu)
#else
#define DYNSEL_CPU_ASPECT 0
#endif
#if CONFIG_DYNSEL_ASPECT_HOST
#define DYNSEL_HOST_ASPECT DYNSEL_ASPECT_BIT(host)
#else
#define DYNSEL_HOST_ASPECT 0
#endif

#endif
