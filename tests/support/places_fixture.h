/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that begin with places_begin() and whose buffers are all ended: their tear_down(). */
#ifndef DYNSEL_TESTS_PLACES_FIXTURE_H
#define DYNSEL_TESTS_PLACES_FIXTURE_H

#include "support/places.h"

static int tear_down(void **state)
{
    (void)state;
    places_hurry();
    places_end();
    return 0;
}

#endif
