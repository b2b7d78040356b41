/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the library asks for by name. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "faults/layer_state.h"

typedef void (*any_function)(void);

void *real_address(cl_platform_id platform,
                   const char *name) __asm__("__real_clGetExtensionFunctionAddressForPlatform");
void *wrap_address(cl_platform_id platform,
                   const char *name) __asm__("__wrap_clGetExtensionFunctionAddressForPlatform");

void *real_dlsym(void *handle, const char *name) __asm__("__real_dlsym");
void *wrap_dlsym(void *handle, const char *name) __asm__("__wrap_dlsym");

static void *real_functions[FAULT_FUNCTION_COUNT];

/* Data pointers and functions are converted as POSIX says it for dlsym(). */
#define REAL(name, address)                                                                        \
    __typeof__ (&call_##name)(address) = NULL;                                                     \
    (void)memcpy((void *)&(address), &real_functions[FAULT_##name], sizeof(address))

static cl_program make_program(fault_function function, cl_context context, const void *il,
                               size_t bytes, cl_int *code)
{
    cl_program (*real)(cl_context, const void *, size_t, cl_int *) = NULL;
    if (fault_strikes(function, context, code)) {
        return NULL;
    }
    (void)memcpy((void *)&real, &real_functions[function], sizeof(real));
    return fault_made(FAULT_PROGRAM, real(context, il, bytes, code), context, function);
}

static cl_program call_clCreateProgramWithIL(cl_context context, const void *il, size_t bytes,
                                             cl_int *code)
{
    return make_program(FAULT_clCreateProgramWithIL, context, il, bytes, code);
}

static cl_program call_clCreateProgramWithILKHR(cl_context context, const void *il, size_t bytes,
                                                cl_int *code)
{
    return make_program(FAULT_clCreateProgramWithILKHR, context, il, bytes, code);
}

static cl_int call_clEnqueueSVMMap(cl_command_queue queue, cl_bool blocks, cl_map_flags flags,
                                   void *memory, size_t bytes, cl_uint count,
                                   const cl_event *before, cl_event *event)
{
    REAL(clEnqueueSVMMap, real);
    cl_int code = CL_SUCCESS;
    if (fault_strikes(FAULT_clEnqueueSVMMap, queue, &code)) {
        return code;
    }
    fault_begin_blocking(queue);
    return real(queue, blocks, flags, memory, bytes, count, before, event);
}

static cl_int call_clEnqueueSVMUnmap(cl_command_queue queue, void *memory, cl_uint count,
                                     const cl_event *before, cl_event *event)
{
    REAL(clEnqueueSVMUnmap, real);
    cl_int code = CL_SUCCESS;
    if (fault_strikes(FAULT_clEnqueueSVMUnmap, queue, &code)) {
        return code;
    }
    fault_fate fate;
    fault_decide(&fate, queue, event != NULL, &count, &before);
    code = real(queue, memory, count, before, event);
    if (code == CL_SUCCESS && event != NULL) {
        (void)fault_made(FAULT_EVENT, *event, queue, FAULT_clEnqueueSVMUnmap);
        fault_enter_command(&fate, queue, event);
    }
    return code;
}

static void *call_clSVMAlloc(cl_context context, cl_bitfield flags, size_t bytes, cl_uint alignment)
{
    REAL(clSVMAlloc, real);
    cl_int code = CL_SUCCESS;
    return fault_strikes(FAULT_clSVMAlloc, context, &code)
               ? NULL
               : fault_made(FAULT_SHARED, real(context, flags, bytes, alignment), context,
                            FAULT_clSVMAlloc);
}

/* It cannot fail. */
static void call_clSVMFree(cl_context context, void *memory)
{
    REAL(clSVMFree, real);
    fault_released(memory);
    real(context, memory);
}

static cl_int call_clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *pointer)
{
    REAL(clSetKernelArgSVMPointer, real);
    cl_int code = CL_SUCCESS;
    return fault_strikes(FAULT_clSetKernelArgSVMPointer, kernel, &code)
               ? code
               : real(kernel, index, pointer);
}

typedef struct found_function {
    const char *name;
    fault_function function;
    any_function call;
} found_function;

static const found_function functions[] = {
#define FAULT_ENTRY(name) {#name, FAULT_##name, (any_function)call_##name},
    FAULT_FOUND_FUNCTIONS(FAULT_ENTRY)
#undef FAULT_ENTRY
};

/* The layer's own, where OpenCL has the function; loaders tell only those of extensions. */
static void *address_of(const found_function *function, void *real)
{
    void *address = NULL;
    if (real == NULL) {
        real = real_dlsym(RTLD_DEFAULT, function->name);
    }
    real_functions[function->function] = real;
    if (real != NULL) {
        (void)memcpy(&address, &function->call, sizeof(address));
    }
    return address;
}

static void *in_place_of(const char *name, void *real)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return address_of(&functions[i], real);
        }
    }
    return real;
}

void *wrap_address(cl_platform_id platform, const char *name)
{
    cl_int code = CL_SUCCESS;
    return fault_strikes(FAULT_clGetExtensionFunctionAddressForPlatform, NULL, &code)
               ? NULL
               : in_place_of(name, real_address(platform, name));
}

/* Where loaders do not tell, the library looks itself. */
void *wrap_dlsym(void *handle, const char *name)
{
    return in_place_of(name, real_dlsym(handle, name));
}
