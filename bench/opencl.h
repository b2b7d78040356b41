/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submits to OpenCL devices beside the same calls by hand. Without the backend these do nothing.
 */
#ifndef BENCH_OPENCL_H
#define BENCH_OPENCL_H

/* The table of times. */
void bench_opencl(unsigned repetitions);

/* Runs each way for so many batches and prints `work <submits>`: for callgrind, which counts what
 * the functions bench_phase_* cost. */
void bench_opencl_phases(unsigned batches);

/* The table of OpenCL calls for each submit, as the layer in OPENCL_LAYERS counted them. */
void bench_opencl_calls(unsigned batches);

#endif
