/* SPDX-License-Identifier: Apache-2.0 */
/** Stands in for opencl.c where dynsel is built without its OpenCL backend. */
#include <stdio.h>

#include "collect.h"
#include "log.h"

int opencl_collect(info_list *list, const char *selector)
{
    if (selector != NULL) {
        log_error("--device: dynsel is built without its OpenCL backend; set "
                  "CONFIG_DYNSEL_BACKEND_OPENCL=y");
        return 1;
    }
    (void)snprintf(list->note, sizeof list->note,
                   "No OpenCL devices: dynsel is built without its OpenCL backend; set "
                   "CONFIG_DYNSEL_BACKEND_OPENCL=y");
    return 0;
}

bool opencl_close(void)
{
    return true;
}
