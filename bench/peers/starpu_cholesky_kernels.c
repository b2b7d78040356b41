/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a tiled Cholesky factorization for StarPU. */
#include "starpu_cholesky.h"

/* Newton's method, which needs no library; NAN stays, as of a device. */
static float square_root(float of)
{
    double root = of > 1 ? of : 1;
    for (double before = 2 * root; root < before;) {
        before = root;
        root = (root + of / root) / 2;
    }
    return (float)root;
}

/* On the diagonal: a = the factor of a. */
static void potrf_on_host(void *const data[], const peer_call *call)
{
    float *a = data[0];
    const size_t n = call->values[0].u;
    for (size_t k = 0; k < n; k++) {
        const float pivot = square_root(a[k * n + k]);
        a[k * n + k] = pivot;
        for (size_t i = k + 1; i < n; i++) {
            a[i * n + k] /= pivot;
        }
        for (size_t i = k + 1; i < n; i++) {
            for (size_t j = k + 1; j <= i; j++) {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
        }
    }
}

/* Below it: x = x / transposed l. */
static void trsm_on_host(void *const data[], const peer_call *call)
{
    float *x = data[0];
    const float *l = data[1];
    const size_t n = call->values[0].u;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            float rest = x[i * n + j];
            for (size_t k = 0; k < j; k++) {
                rest -= x[i * n + k] * l[j * n + k];
            }
            x[i * n + j] = rest / l[j * n + j];
        }
    }
}

/* a = a - x * transposed x, only the lower triangle. */
static void syrk_on_host(void *const data[], const peer_call *call)
{
    float *a = data[0];
    const float *x = data[1];
    const size_t n = call->values[0].u;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            float sum = 0;
            for (size_t k = 0; k < n; k++) {
                sum += x[i * n + k] * x[j * n + k];
            }
            a[i * n + j] -= sum;
        }
    }
}

/* a = a - x * transposed y. */
static void gemm_on_host(void *const data[], const peer_call *call)
{
    float *a = data[0];
    const float *x = data[1];
    const float *y = data[2];
    const size_t n = call->values[0].u;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t k = 0; k < n; k++) {
                sum += x[i * n + k] * y[j * n + k];
            }
            a[i * n + j] -= sum;
        }
    }
}

peer_kernel cholesky_kernels[CHOLESKY_KINDS] = {
    {.name = "potrf",
     .source = "kernel void potrf(global float *a, unsigned n)"
               "{"
               "    unsigned lane = get_local_id(0);"
               "    unsigned lanes = get_local_size(0);"
               "    for (unsigned k = 0; k < n; k++) {"
               "        if (lane == 0) {"
               "            a[k * n + k] = sqrt(a[k * n + k]);"
               "        }"
               "        barrier(CLK_GLOBAL_MEM_FENCE);"
               "        for (unsigned i = k + 1 + lane; i < n; i += lanes) {"
               "            a[i * n + k] /= a[k * n + k];"
               "        }"
               "        barrier(CLK_GLOBAL_MEM_FENCE);"
               "        for (unsigned i = k + 1 + lane; i < n; i += lanes) {"
               "            for (unsigned j = k + 1; j <= i; j++) {"
               "                a[i * n + j] -= a[i * n + k] * a[j * n + k];"
               "            }"
               "        }"
               "        barrier(CLK_GLOBAL_MEM_FENCE);"
               "    }"
               "}",
     .host = potrf_on_host,
     .buffers = 1,
     .values = 1,
     .modes = {STARPU_RW}},
    {.name = "trsm",
     .source = "kernel void trsm(global float *x, global const float *l, unsigned n)"
               "{"
               "    size_t i = get_global_id(0);"
               "    for (unsigned j = 0; j < n; j++) {"
               "        float rest = x[i * n + j];"
               "        for (unsigned k = 0; k < j; k++) {"
               "            rest -= x[i * n + k] * l[j * n + k];"
               "        }"
               "        x[i * n + j] = rest / l[j * n + j];"
               "    }"
               "}",
     .host = trsm_on_host,
     .buffers = 2,
     .values = 1,
     .modes = {STARPU_RW, STARPU_R}},
    {.name = "syrk",
     .source = "kernel void syrk(global float *a, global const float *x, unsigned n)"
               "{"
               "    size_t i = get_global_id(1);"
               "    size_t j = get_global_id(0);"
               "    if (j <= i) {"
               "        float sum = 0;"
               "        for (unsigned k = 0; k < n; k++) {"
               "            sum += x[i * n + k] * x[j * n + k];"
               "        }"
               "        a[i * n + j] -= sum;"
               "    }"
               "}",
     .host = syrk_on_host,
     .buffers = 2,
     .values = 1,
     .modes = {STARPU_RW, STARPU_R}},
    {.name = "gemm",
     .source = "kernel void gemm(global float *a, global const float *x, global const float *y,"
               "                 unsigned n)"
               "{"
               "    size_t i = get_global_id(1);"
               "    size_t j = get_global_id(0);"
               "    float sum = 0;"
               "    for (unsigned k = 0; k < n; k++) {"
               "        sum += x[i * n + k] * y[j * n + k];"
               "    }"
               "    a[i * n + j] -= sum;"
               "}",
     .host = gemm_on_host,
     .buffers = 3,
     .values = 1,
     .modes = {STARPU_RW, STARPU_R, STARPU_R}},
};
