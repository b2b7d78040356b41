/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/output.h"

#include "board.h"

void runner_write(const char *text, size_t length)
{
    board_write(text, length);
}
