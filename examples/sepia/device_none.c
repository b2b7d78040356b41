/* SPDX-License-Identifier: Apache-2.0 */
/** In place of device.c where the library is built without its OpenCL backend. */
#include "device.h"

bool device_prepare(const sepia_job *job)
{
    (void)job;
    return true;
}

void device_look(sepia_tile *tile)
{
    (void)tile;
}

void device_release(const sepia_job *job, const bool *in_service)
{
    (void)job;
    (void)in_service;
}
