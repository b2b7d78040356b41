/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the devices of a context share with the host. It is allocated once for a context, and
 * kept until dynsel_opencl_close(). */
#ifndef DYNSEL_BACKENDS_OPENCL_SVM_MEMORY_H
#define DYNSEL_BACKENDS_OPENCL_SVM_MEMORY_H

#include <dynsel/memory.h>

/* Operations of dynsel_memory_ops. */
dynsel_status dynsel_opencl_take_shared(dynsel_backend *backend, void *own, size_t bytes,
                                        void **memory);
void dynsel_opencl_return_shared(dynsel_backend *backend, void *own, void *memory);
dynsel_status dynsel_opencl_map_shared(dynsel_backend *backend, void *own, void *part, size_t bytes,
                                       dynsel_access_mode mode);
dynsel_status dynsel_opencl_unmap_shared(dynsel_backend *backend, void *own, void *part);

/* Under the lock: the number of entries whose shared memory is in use. */
uint32_t dynsel_opencl_count_shared(void);

/* Under the lock, before contexts are released: frees all shared memory; none of it is in use. */
void dynsel_opencl_release_shared(void);

#endif
