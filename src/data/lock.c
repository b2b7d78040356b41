/* SPDX-License-Identifier: Apache-2.0 */
#include "data/lock.h"

dynsel_brief_lock dynsel_memory_lock;
