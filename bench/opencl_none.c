/* SPDX-License-Identifier: Apache-2.0 */
/* Without the OpenCL backend. */
#include "opencl.h"

#include <stdio.h>

void bench_opencl(unsigned repetitions)
{
    (void)repetitions;
    printf("\nOpenCL: not in this configuration\n");
}

void bench_opencl_phases(unsigned batches)
{
    (void)batches;
}

void bench_opencl_calls(unsigned batches)
{
    (void)batches;
}
