/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated lives with times of 32 bits, whatever is configured. */
#define COPY_SHORT_TIMES
#include "policies/test_auto_tune_simulated.c"
