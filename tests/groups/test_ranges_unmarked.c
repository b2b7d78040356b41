/* SPDX-License-Identifier: Apache-2.0 */
/* What test_ranges_marked.c does, without the one line that marks the type. */
#define PAIR_IS_MARKED 0

#include "groups/users_pair.h"
