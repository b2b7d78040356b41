/* SPDX-License-Identifier: Apache-2.0 */
/* From a resource of the program to its entry. */
#ifndef DYNSEL_BACKENDS_OPENCL_RESOURCE_OBJECTS_H
#define DYNSEL_BACKENDS_OPENCL_RESOURCE_OBJECTS_H

#include "backends/opencl/device_table.h"

/* The entry of a resource; NULL (last error set): it is none of this backend. function: static. */
dynsel_opencl_entry *dynsel_opencl_entry_of_resource(const dynsel_resource *where,
                                                     const char *function);

#endif
