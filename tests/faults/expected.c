/* SPDX-License-Identifier: Apache-2.0 */
#include "faults/expected.h"

#include <stddef.h>

enum { NO_LIMIT = UINT32_MAX };

/* All of the matrix: a hostile driver answers with any code. */
static const cl_int all[] = {-2, -4, -5, -6, -30, -36, -7777, 0};
static const cl_int looks[] = {-2, -4, -5, -6, -30, -36, -58, -7777, 0};
static const cl_int sizes[] = {-2, -4, -5, -6, -30, -36, -61, -7777, 0};

/* Of commands; the usual two first. */
static const cl_int ends[] = {-5, -7777, -2, -4, -6, -14, -30, -36, 0};

/* What functions are most likely to answer. */
static const cl_int usual[] = {-5, -6, -30, -7777, 0};
static const cl_int queries[] = {-6, -30, 0};
static const cl_int enqueues[] = {-4, -5, -6, -30, -36, -7777, 0};
static const cl_int events[] = {-2, -5, -6, -30, -36, -58, -7777, 0};
static const cl_int buffers[] = {-4, -5, -6, -61, 0};
static const cl_int devices[] = {-2, -5, -6, -7777, 0};
static const cl_int ids[] = {-6, -30, 0};

/* They return an address and no code, so one is enough. */
static const cl_int addresses[] = {-1, 0};

typedef struct choice {
    const cl_int *some;
    const cl_int *whole;
} choice;

static const choice choices[FAULT_FUNCTION_COUNT] = {
    [FAULT_clCreateBuffer] = {buffers, sizes},
    [FAULT_clCreateCommandQueue] = {devices, all},
    [FAULT_clCreateContext] = {devices, all},
    [FAULT_clEnqueueBarrierWithWaitList] = {enqueues, all},
    [FAULT_clEnqueueCopyBuffer] = {enqueues, all},
    [FAULT_clEnqueueCopyBufferRect] = {enqueues, all},
    [FAULT_clEnqueueFillBuffer] = {enqueues, all},
    [FAULT_clEnqueueMapBuffer] = {enqueues, all},
    [FAULT_clEnqueueMarkerWithWaitList] = {enqueues, all},
    [FAULT_clEnqueueNDRangeKernel] = {enqueues, all},
    [FAULT_clEnqueueReadBuffer] = {enqueues, all},
    [FAULT_clEnqueueSVMMap] = {enqueues, all},
    [FAULT_clEnqueueSVMUnmap] = {enqueues, all},
    [FAULT_clEnqueueUnmapMemObject] = {enqueues, all},
    [FAULT_clEnqueueWriteBuffer] = {enqueues, all},
    [FAULT_clGetDeviceInfo] = {queries, all},
    [FAULT_clGetEventInfo] = {events, looks},
    [FAULT_clGetExtensionFunctionAddressForPlatform] = {addresses, addresses},
    [FAULT_clGetPlatformIDs] = {ids, all},
    [FAULT_clGetPlatformInfo] = {queries, all},
    [FAULT_clGetProgramBuildInfo] = {queries, all},
    [FAULT_clGetProgramInfo] = {queries, all},
    [FAULT_clReleaseCommandQueue] = {ids, all},
    [FAULT_clReleaseContext] = {ids, all},
    [FAULT_clReleaseKernel] = {ids, all},
    [FAULT_clReleaseProgram] = {ids, all},
    [FAULT_clSVMAlloc] = {addresses, addresses},
    [FAULT_clWaitForEvents] = {events, looks},
};

const cl_int *fault_codes(fault_function function, bool whole)
{
    const choice *const c = &choices[function];
    if (whole) {
        return c->whole != NULL ? c->whole : all;
    }
    return c->some != NULL ? c->some : usual;
}

const cl_int *fault_end_codes(void)
{
    return ends;
}

bool fault_has_code(fault_function function)
{
    return function != FAULT_clSVMAlloc;
}

bool fault_is_usual_end(cl_int code)
{
    return code == ends[0] || code == ends[1];
}

/* A device that is lost has to be opened and warmed again, so the subset tries what loses it for
 * good with the first call, and with each only where nothing else does so. */
uint32_t fault_last_for_good(cl_int code, bool whole)
{
    return whole || code == -4 || code == -6 || code == -7777 ? NO_LIMIT : 1;
}

/* Of a disguised device, markers tell the ends of launches that share an event. */
static bool is_of_look(fault_function function)
{
    return function == FAULT_clWaitForEvents || function == FAULT_clGetEventInfo ||
           function == FAULT_clFlush ||
           (function == FAULT_clEnqueueMarkerWithWaitList && fault_is_disguised());
}

static bool is_query(const fault_point *point)
{
    return point->function == FAULT_clGetEventInfo && fault_hit_query();
}

static bool is_look(const fault_point *point)
{
    return is_of_look(point->function) && !is_query(point);
}

/* What the library asks before it gives a device up. */
static bool is_asked_by_check(fault_function function)
{
    return function == FAULT_clCreateCommandQueue || function == FAULT_clFlush ||
           function == FAULT_clEnqueueMarkerWithWaitList;
}

typedef struct list {
    const fault_function *functions;
    size_t count;
} list;

#define LIST(functions)                                                                            \
    {                                                                                              \
        functions, sizeof(functions) / sizeof((functions)[0])                                      \
    }

static bool has(const list *l, fault_function function)
{
    for (size_t i = 0; i < l->count; i++) {
        if (l->functions[i] == function) {
            return true;
        }
    }
    return false;
}

/* Nothing of the work depends on it: what cannot be released stays, an event that cannot tell its
 * end is asked, a kernel that cannot be loaded or saved is compiled. */
static const fault_function needless[] = {
    FAULT_clCreateProgramWithBinary, FAULT_clCreateProgramWithIL, FAULT_clCreateProgramWithILKHR,
    FAULT_clGetEventProfilingInfo,   FAULT_clGetProgramInfo,      FAULT_clReleaseCommandQueue,
    FAULT_clReleaseContext,          FAULT_clReleaseEvent,        FAULT_clReleaseKernel,
    FAULT_clReleaseMemObject,        FAULT_clReleaseProgram,      FAULT_clRetainEvent,
    FAULT_clSetEventCallback};

/* Not a call on an open device, or one whose failure says nothing about it: full memory, say. */
static const fault_function neutral[] = {FAULT_clCreateBuffer,
                                         FAULT_clCreateCommandQueue,
                                         FAULT_clCreateContext,
                                         FAULT_clGetCommandQueueInfo,
                                         FAULT_clGetDeviceIDs,
                                         FAULT_clGetDeviceInfo,
                                         FAULT_clGetExtensionFunctionAddressForPlatform,
                                         FAULT_clGetMemObjectInfo,
                                         FAULT_clGetPlatformIDs,
                                         FAULT_clGetPlatformInfo,
                                         FAULT_clGetProgramBuildInfo,
                                         FAULT_clRetainCommandQueue,
                                         FAULT_clRetainMemObject,
                                         FAULT_clSVMAlloc,
                                         FAULT_clSVMFree};

static bool is_needless(fault_function function)
{
    static const list all_needless = LIST(needless);
    return has(&all_needless, function);
}

static bool says_nothing(fault_function function)
{
    static const list all_neutral = LIST(neutral);
    return has(&all_neutral, function) || is_needless(function);
}

/* The check ends so, too. */
static bool end_may_lose(const fault_point *point)
{
    return point->code == -2 || (point->for_good && (point->code == -5 || point->code == -36));
}

bool fault_may_lose(const fault_point *point)
{
    if (point->end != FAULT_NO_END) {
        return point->end == FAULT_END_NEVER ||
               (point->end == FAULT_END_FAILS && end_may_lose(point));
    }
    if (says_nothing(point->function) || (is_query(point) && !point->for_good)) {
        return false;
    }
    switch (point->code) {
    case -2:
        return true;
    case -5:
    case -36:
        return point->for_good &&
               (is_asked_by_check(point->function) || is_of_look(point->function));
    default:
        return point->for_good && is_of_look(point->function); /* patience_ms */
    }
}

bool fault_must_lose(const fault_point *point)
{
    return point->end == FAULT_NO_END && point->code == -2 && fault_may_lose(point) &&
           !is_query(point);
}

/* One look that fails says nothing, and a wait is replaced by looks. */
bool fault_is_survived(const fault_point *point)
{
    if (point->end != FAULT_NO_END) {
        return point->end != FAULT_END_FAILS;
    }
    return is_needless(point->function) ||
           (is_look(point) && point->code != -2 &&
            (!point->for_good || point->function == FAULT_clWaitForEvents));
}

/* Without the answer there is no device to work with. */
static bool is_listing(fault_function function)
{
    return function == FAULT_clGetPlatformIDs || function == FAULT_clGetDeviceIDs;
}

bool fault_says_other(const fault_point *point)
{
    return point->function == FAULT_clGetPlatformIDs && point->code != -6;
}

static bool is_opening(fault_function function)
{
    return function == FAULT_clCreateContext || function == FAULT_clCreateCommandQueue;
}

/* It allocates nothing, whatever it answers. */
static bool is_plain_query(fault_function function)
{
    return function == FAULT_clGetMemObjectInfo || function == FAULT_clRetainMemObject ||
           function == FAULT_clGetProgramBuildInfo;
}

/* Full memory: a code that says so, and any failure to allocate. Transfers to the host and looks
 * allocate nothing. */
static bool is_full(const fault_point *point)
{
    if (point->function == FAULT_clCreateBuffer || point->function == FAULT_clSVMAlloc) {
        return true;
    }
    if (point->function == FAULT_clEnqueueFillBuffer && point->code == -6) {
        return true; /* it can be the first use of new memory */
    }
    return point->code == -4 && point->function != FAULT_clEnqueueMapBuffer &&
           !is_of_look(point->function) && !is_plain_query(point->function);
}

/* Alone, a lack of memory is DYNSEL_E_DEVICE only where it can be full memory of the host, where
 * data were to be fetched, or where a task function says so. */
static bool is_device(const fault_point *point)
{
    return !is_full(point) || point->code == -6 || point->function == FAULT_clEnqueueReadBuffer ||
           point->function == FAULT_clEnqueueMarkerWithWaitList;
}

bool fault_status_fits(const fault_point *point, dynsel_status status)
{
    if (point->end != FAULT_NO_END) {
        return status == DYNSEL_E_DEVICE || status == DYNSEL_E_DEPENDENCY ||
               (status == DYNSEL_E_OUT_OF_SERVICE && fault_may_lose(point));
    }
    if (is_listing(point->function)) {
        return status == DYNSEL_E_NO_RESOURCE ||
               (status == DYNSEL_E_DEVICE && point->function == FAULT_clGetPlatformIDs);
    }
    if (is_opening(point->function)) {
        return status == DYNSEL_E_OUT_OF_SERVICE;
    }
    if (point->function == FAULT_clGetCommandQueueInfo ||
        point->function == FAULT_clRetainCommandQueue) {
        return status == DYNSEL_E_INVALID; /* dynsel_opencl_adopt() */
    }
    if (point->function == FAULT_clGetEventInfo && point->code == -58 &&
        status == DYNSEL_E_INVALID) {
        return is_query(point) || point->for_good; /* no event */
    }
    if (status == DYNSEL_E_FULL) {
        return is_full(point);
    }
    if (status == DYNSEL_E_DEVICE) {
        return is_device(point) && point->function != FAULT_clCreateBuffer;
    }
    return status == DYNSEL_E_DEPENDENCY || /* the work before it failed so */
           (status == DYNSEL_E_OUT_OF_SERVICE && fault_may_lose(point));
}

bool fault_consequence_fits(const fault_point *point, dynsel_status status)
{
    if (point->end == FAULT_END_FAILS && status == DYNSEL_E_DEPENDENCY) {
        return true;
    }
    if (status == DYNSEL_E_OUT_OF_SERVICE) {
        return fault_may_lose(point) || is_opening(point->function);
    }
    return status == DYNSEL_E_NO_RESOURCE && is_listing(point->function);
}
