/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/output.h"

#include <stdio.h>

void runner_write(const char *text, size_t length)
{
    (void)fwrite(text, 1, length, stdout);
    (void)fflush(stdout); /* so that all is there when the program dies */
}
