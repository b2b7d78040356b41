/* SPDX-License-Identifier: Apache-2.0 */
/* A device in a context of the program's own. */
#ifndef DYNSEL_TESTS_FAULTS_OWN_QUEUE_H
#define DYNSEL_TESTS_FAULTS_OWN_QUEUE_H

#include <dynsel/dynsel.h>

/* The device of `of` as a resource of another context than the library's, always the same one. The
 * layer does not see its creation. */
dynsel_resource fault_own_queue(const dynsel_resource *of);

/* After the last use. */
void fault_release_own_queue(void);

#endif
