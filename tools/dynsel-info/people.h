/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PEOPLE_H
#define PEOPLE_H

#include "info.h"

/** Prints the list for people, as wide as the terminal. */
void people_print(const info_list *list);

#endif
