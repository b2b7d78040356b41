/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TABLE_H
#define TABLE_H

#include "info.h"

/** Prints the list as text, as wide as the terminal. */
void table_print(const info_list *list);

#endif
