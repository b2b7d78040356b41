/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FACTS_H
#define FACTS_H

#include <dynsel/opencl.h>

#include "info.h"

/** Asks a driver what the library does not tell. */
void facts_read(info_facts *facts, cl_device_id device);

#endif
