/* SPDX-License-Identifier: Apache-2.0 */
/* Selections that a program holds. */
#ifndef DYNSEL_POLICY_SELECTION_H
#define DYNSEL_POLICY_SELECTION_H

#include <dynsel/policy.h>

/* DYNSEL_OK, or why a selection of a program cannot be used, on behalf of `function`. */
dynsel_status dynsel_selection_check(const dynsel_selection *selection, const char *function);

#endif
