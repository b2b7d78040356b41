/* SPDX-License-Identifier: Apache-2.0 */
/** The work on OpenCL devices. Compiled in when the library has its OpenCL backend. */
#ifndef SEPIA_DEVICE_H
#define SEPIA_DEVICE_H

#include "sepia.h"

/** The form of the task for the opencl backend; args: a sepia_tile. */
dynsel_status device_form(const dynsel_resource *where, void *args, dynsel_event *done);

/** Makes program, kernel and buffers for each device of the job, so that submitting does not have
 * to. The policy may not be in use. False: stderr says why. */
bool device_prepare(const sepia_job *job);

/**
 * Looks at a running tile: when it is complete, takes note of how it ended and how long it took,
 * and lets go of its events.
 */
void device_look(sepia_tile *tile);

/** Releases what device_prepare() made. in_service: a device for which it is false is left alone,
 * because drivers of lost devices hang. */
void device_release(const sepia_job *job, const bool *in_service);

#endif
