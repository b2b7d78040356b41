/* SPDX-License-Identifier: Apache-2.0 */
#include "configuration.h"

#include <stddef.h>

#include <dynsel/dynsel.h>

void configuration_print(FILE *to, const char *before, const char *label)
{
    (void)fprintf(to, "%scompiler       %s %s\n", before,
                  CONFIG_DYNSEL_COMPILER_CLANG ? "clang" : "gcc", __VERSION__);
    (void)fprintf(to, "%sconfiguration  %s, statistics %s, %s, tag %s\n", before,
                  label != NULL ? label : "not named", CONFIG_DYNSEL_STATISTICS ? "on" : "off",
                  CONFIG_DYNSEL_OPTIMIZE_SPEED ? "for speed" : "NOT FOR SPEED",
                  DYNSEL_CONFIG_TAG_TEXT);
}
