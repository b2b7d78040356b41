/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOAK_RESULT_H
#define SOAK_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "submitter.h"

/* Ends the program with status 1 and the details of the thread's last error. */
void soak_must(bool good, const char *what);

/* Resident memory of this process. */
size_t soak_resident_kib(void);

/* Prints all counts; false when they do not add up. All work is complete. */
bool soak_counts_add_up(const soak_submitter *submitters, unsigned count);

#endif
