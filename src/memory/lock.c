/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/lock.h"

dynsel_brief_lock dynsel_memory_lock;
