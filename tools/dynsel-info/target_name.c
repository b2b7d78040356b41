/* SPDX-License-Identifier: Apache-2.0 */
#include "target_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 48 /* without a number behind it */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_of_a_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

/** The next word of a text in lower case, or false; a word too long for `bytes` is cut. */
static bool next_word(const char **text, char *word, size_t bytes)
{
    size_t length = 0;

    while (**text != '\0' && !is_of_a_word(**text)) {
        *text += 1;
    }
    for (; is_of_a_word(**text); *text += 1) {
        if (length + 1 < bytes) {
            word[length++] = (char)tolower((unsigned char)**text);
        }
    }
    word[length] = '\0';
    return length > 0;
}

static bool is_in(const char *name, const char *word)
{
    char there[LONGEST];

    while (next_word(&name, there, sizeof there)) {
        if (strcmp(there, word) == 0) {
            return true;
        }
    }
    return false;
}

/** Adds up to `most` words that are not in the name yet; stops where the next does not fit. */
static void add_words(char *name, const char *text, unsigned most)
{
    char word[LONGEST / 2];

    while (most > 0 && next_word(&text, word, sizeof word)) {
        size_t used = strlen(name);
        if (is_in(name, word)) {
            continue;
        }
        if (used + 1 + strlen(word) > LONGEST) {
            return;
        }
        (void)snprintf(name + used, TARGET_NAME_BYTES - used, "%s%s", used > 0 ? "_" : "", word);
        most--;
    }
}

void target_name(char to[TARGET_NAME_BYTES], const dynsel_device *device, unsigned number)
{
    to[0] = '\0';
    add_words(to, device->vendor, 1);
    add_words(to, strcmp(device->type, "unknown") == 0 ? "" : device->type, 1);
    add_words(to, device->name, 8);
    /* A single word may mean something else in YAML, such as `no`. */
    if (!is_letter(to[0]) || strchr(to, '_') == NULL) {
        char rest[TARGET_NAME_BYTES];
        (void)snprintf(rest, sizeof rest, "%s", to);
        (void)snprintf(to, TARGET_NAME_BYTES, "opencl_%.*s", LONGEST,
                       rest[0] == '\0' ? "device" : rest);
    }
    if (number > 1) {
        size_t used = strlen(to);
        (void)snprintf(to + used, TARGET_NAME_BYTES - used, "_%u", number);
    }
}
