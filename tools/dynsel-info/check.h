/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECK_H
#define CHECK_H

#include "info.h"

/** Prints a line for each chosen resource that policies of this build would refuse, and returns how
 * many. */
unsigned check_print(const info_list *list);

#endif
