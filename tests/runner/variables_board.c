/* SPDX-License-Identifier: Apache-2.0 */
/* The tests' variables, from the emulator's command line. */
#include <stdlib.h>
#include <string.h>

#include "board.h"

const char *getenv(const char *name)
{
    static char line[128];
    const size_t length = strlen(name);
    board_arguments(line, sizeof line);
    for (char *word = line; word != NULL; word = strchr(word, ' ')) {
        word += *word == ' ' ? 1 : 0;
        if (strncmp(word, name, length) == 0 && word[length] == '=') {
            return word + length + 1;
        }
    }
    return NULL;
}

unsigned long long strtoull(const char *text, char **end, int base)
{
    unsigned long long number = 0;
    (void)end;
    (void)base;
    for (; *text >= '0' && *text <= '9'; text++) {
        number = 10 * number + (unsigned)(*text - '0');
    }
    return number;
}
