/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/record.h"

dynsel_trace_state dynsel_trace;
