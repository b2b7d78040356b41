/* SPDX-License-Identifier: Apache-2.0 */
/** The devices of this machine: collected once, then printed in one of several forms. */
#ifndef INFO_H
#define INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

#if CONFIG_DYNSEL_BACKEND_OPENCL
#define INFO_MOST_DEVICES (CONFIG_DYNSEL_OPENCL_MAX_DEVICES + CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS)
#else
#define INFO_MOST_DEVICES 0
#endif
#if CONFIG_DYNSEL_BACKEND_MPI
#define INFO_MOST_OF_RANKS                                                                         \
    ((size_t)(CONFIG_DYNSEL_MPI_RANKS - 1) * CONFIG_DYNSEL_MPI_RANK_RESOURCES)
#else
#define INFO_MOST_OF_RANKS 0
#endif
/* the host, its workers, OpenCL's, and those of other ranks */
#define INFO_MOST                 (2 + INFO_MOST_DEVICES + INFO_MOST_OF_RANKS)
#define INFO_MOST_SUB_GROUP_SIZES 16

/* Newer than the OpenCL headers of some systems. */
enum {
    INFO_SVM_COARSE_GRAIN_BUFFER = 1,
    INFO_SVM_FINE_GRAIN_BUFFER = 2,
    INFO_SVM_FINE_GRAIN_SYSTEM = 4,
    INFO_SVM_ATOMICS = 8
};

typedef enum info_kind {
    INFO_HOST,      /**< C functions in the thread that submits */
    INFO_WORKERS,   /**< the threads of the backend threads, all as one entry */
    INFO_OPENCL,    /**< an OpenCL device */
    INFO_NO_DEVICE, /**< an OpenCL platform without devices */
    INFO_RANK       /**< a resource of another process of an MPI program */
} info_kind;

/** Properties that the library does not report: 0 and empty if a driver does not answer. */
typedef struct info_facts {
    uint64_t max_allocation_bytes;
    uint64_t local_memory_bytes;
    uint64_t svm; /**< INFO_SVM_... */
    bool shares_host_memory;
    bool out_of_order; /**< queues that may run commands out of order */
    bool profiling;
    uint32_t sub_group_sizes[INFO_MOST_SUB_GROUP_SIZES]; /**< ascending, each once */
    size_t sub_group_size_count;
    char version[128]; /**< CL_DEVICE_VERSION */
    char c_version[128];
} info_facts;

typedef struct info_entry {
    info_kind kind;
    int index;           /**< the selector term for it alone; -1: none */
    bool chosen;         /**< the host always is */
    const char *verdict; /**< one word: why it is chosen or not */
    char reason[512];    /**< the same, one clause */
    unsigned workers;
    uint32_t rank;            /**< of INFO_RANK; else 0 */
    dynsel_resource resource; /**< of workers: the first; chosen devices of OpenCL only */
    dynsel_device device;
    const char *driver_version;
    uint32_t compute_units; /**< of the host: its processors */
    uint64_t memory_bytes;  /**< 0: not known */
    uint32_t memory_domain;
    dynsel_proof proof;          /**< against the targets of this build */
    dynsel_proof table_proof;    /**< against all targets of the table */
    const dynsel_target *nearer; /**< a better target outside this build; may be NULL */
    info_facts facts;
    bool has_profiles;      /**< true ones, by which the library times work */
    const char *times;      /**< what times work: "profile", "callback"; NULL: not known */
    char times_reason[128]; /**< one clause */
} info_entry;

typedef struct info_list {
    info_entry entries[INFO_MOST];
    size_t count;
    unsigned devices;          /**< of OpenCL, chosen or not */
    const char *selector;      /**< which of them are chosen; NULL: all */
    const char *selector_from; /**< "--device" or "DYNSEL_OPENCL", or NULL */
    char note[512];     /**< why there is no OpenCL device, and the remedy; empty: there is one */
    char problem[1024]; /**< devices that could not be listed, and why; empty: none */
} info_list;

#endif
