/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/functions.h"

#include <dlfcn.h>
#include <string.h>

/* Loaders tell functions of extensions only, and drivers what they like; what is OpenCL's own is a
 * symbol of the loader. (A weak reference to it would be no help: linked with a new loader, it asks
 * an old one for the version of the symbol, and the program does not start.) Weak, because it was
 * in a library of its own once: the loader needs that, so it is there. */
#pragma weak dlopen
#pragma weak dlsym

/* Among all that the program is linked with. */
static void *address_in_program(const char *name)
{
    void *const program = dlopen != NULL && dlsym != NULL ? dlopen(NULL, RTLD_LAZY) : NULL;
    return program != NULL ? dlsym(program, name) : NULL;
}

dynsel_opencl_function dynsel_opencl_find_function(cl_device_id device, const char *name)
{
    cl_platform_id platform = NULL;
    dynsel_opencl_function function = NULL;
    if (clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform, NULL) !=
        CL_SUCCESS) {
        return NULL;
    }
    void *address = clGetExtensionFunctionAddressForPlatform(platform, name);
    if (address == NULL) {
        address = address_in_program(name);
    }
    (void)memcpy(&function, &address, sizeof(function));
    return function;
}
