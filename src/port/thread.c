/* SPDX-License-Identifier: Apache-2.0 */
#include "port/thread.h"

DYNSEL_EACH_THREAD dynsel_thread dynsel_thread_state;
