/* SPDX-License-Identifier: Apache-2.0 */
/* What test_ranges_unmarked.c does, with the one line that marks the type. */
#define PAIR_IS_MARKED 1

#include "groups/users_pair.h"
