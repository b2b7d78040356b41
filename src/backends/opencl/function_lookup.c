/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/function_lookup.h"

#include <dlfcn.h>
#include <string.h>

/* Older C libraries have them in a library of their own. OpenCL loaders need that library, so it is
 * linked wherever a loader is. */
#pragma weak dlopen
#pragma weak dlsym

dynsel_opencl_function dynsel_opencl_find_function(cl_device_id device, const char *name)
{
    cl_platform_id platform = NULL;
    dynsel_opencl_function function = NULL;
    if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform, NULL) !=
        CL_SUCCESS) {
        return NULL;
    }
    void *address = clGetExtensionFunctionAddressForPlatform(platform, name);
    /* Loaders return only functions of extensions here; functions of OpenCL itself are symbols of
     * the loader. A weak reference to one would not do: a program linked with a new loader requires
     * the symbol's version, and does not start with an old loader. */
    if (address == NULL && dlopen != NULL && dlsym != NULL) {
        void *const program = dlopen(NULL, RTLD_LAZY);
        address = program != NULL ? dlsym(program, name) : NULL;
    }
    (void)memcpy(&function, &address, sizeof(function));
    return function;
}
