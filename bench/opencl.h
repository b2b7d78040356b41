/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submits to OpenCL devices, compared with the same calls by hand. Without the backend these do
 * nothing.
 */
#ifndef BENCH_OPENCL_H
#define BENCH_OPENCL_H

/* The table of times. */
void bench_opencl(unsigned repetitions);

/* Runs each phase for this number of batches and prints `work <submits>`, for callgrind, which
 * counts the instructions of the functions bench_phase_*. */
void bench_opencl_phases(unsigned batches);

/* The table of OpenCL calls for each submit, counted by the layer in OPENCL_LAYERS. */
void bench_opencl_calls(unsigned batches);

#endif
