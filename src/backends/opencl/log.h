/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of the compilers of OpenCL C. */
#ifndef DYNSEL_BACKENDS_OPENCL_LOG_H
#define DYNSEL_BACKENDS_OPENCL_LOG_H

#include <dynsel/kernel.h>

#include "backends/opencl/table.h"

/* Keeps the log of a kernel's program that did not build, in the place of the one before it on that
 * device. */
void dynsel_opencl_keep_log(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                            cl_program program);

/* The kept log, for display; NULL: it was empty, or was replaced by another kernel's. */
const char *dynsel_opencl_log_of(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel);

/* Those of all devices. */
void dynsel_opencl_forget_logs(void);

#endif
