/* SPDX-License-Identifier: Apache-2.0 */
/** Stands in for ranks.c where dynsel is built without its backend mpi. */
#include <stdlib.h>

#include "ranks.h"

bool ranks_have_launcher(void)
{
    return false;
}

bool ranks_is_other(void)
{
    return false;
}

int ranks_begin(void)
{
    return EXIT_SUCCESS;
}

int ranks_serve(void)
{
    return EXIT_SUCCESS;
}

void ranks_collect(info_list *list)
{
    (void)list;
}

bool ranks_end(void)
{
    return true;
}
