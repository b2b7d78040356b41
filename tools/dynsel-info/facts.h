/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FACTS_H
#define FACTS_H

#include <dynsel/opencl.h>

#include "info.h"

/** Queries properties from a driver that the library does not report. */
void facts_read(info_facts *facts, cl_device_id device);

#endif
