/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of a kernel, and which backends can run them. */
#ifndef DYNSEL_GROUPS_KERNEL_FORMS_H
#define DYNSEL_GROUPS_KERNEL_FORMS_H

#include <stdbool.h>

#include <dynsel/backend.h>
#include <dynsel/kernel.h>
#include <dynsel/memory.h>

static inline bool dynsel_kernel_has_device_form(const dynsel_kernel *kernel)
{
    return kernel->source != NULL || kernel->il != NULL || kernel->binary_count != 0;
}

static inline bool dynsel_kernel_has_any_form(const dynsel_kernel *kernel)
{
    return kernel->function != NULL || dynsel_kernel_has_device_form(kernel);
}

/* Only forms for devices need the name. */
static inline bool dynsel_kernel_has_name(const dynsel_kernel *kernel)
{
    return kernel->name != NULL || !dynsel_kernel_has_device_form(kernel);
}

/* Whether resources of the backend have a form of the kernel that they can run. */
static inline bool dynsel_kernel_has_form_for(const dynsel_kernel *kernel,
                                              const dynsel_backend *backend)
{
    const dynsel_memory_ops *const memory = backend->ops->memory;
    return memory != NULL ? memory->has_form(kernel) : kernel->function != NULL;
}

#endif
