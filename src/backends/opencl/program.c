/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that know what the devices of this build can do. */
#include <dynsel/opencl.h>

#include "base/fail.h"
#include "port/context.h"

const char dynsel_opencl_prelude[] =
#include "generated/opencl_prelude.inc"
    ;

cl_program dynsel_opencl_program(const dynsel_resource *where, const char *source)
{
    if (dynsel_in_interrupt()) {
        return NULL;
    }
    if (source == NULL) {
        (void)DYNSEL_FAIL(DYNSEL_E_INVALID, "the source is NULL");
        return NULL;
    }
    const cl_context context = dynsel_opencl_context(where);
    if (context == NULL) {
        return NULL;
    }
    const char *texts[] = {dynsel_opencl_prelude, source};
    cl_int code = CL_SUCCESS;
    const cl_program program = clCreateProgramWithSource(context, 2, texts, NULL, &code);
    return dynsel_opencl_check("clCreateProgramWithSource", code) == DYNSEL_OK ? program : NULL;
}
