/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The configuration that the library was built with, and the few macros that every header uses.
 *
 * <dynsel/autoconf.h> is generated from Kconfig. It defines every yes-or-no option as 0 or 1, so
 * write `#if CONFIG_DYNSEL_X`, never `#ifdef`: with -Wundef a misspelt option then stops the build.
 */
#ifndef DYNSEL_CONFIG_H
#define DYNSEL_CONFIG_H

#include <dynsel/autoconf.h>
#include <dynsel/language.h>

/** The caller must check the returned status. */
#define DYNSEL_CHECKED __attribute__((warn_unused_result))

/**
 * Puts the configuration's tag into the symbol of a function, so that a header and an archive of
 * different configurations do not link: the linker then reports, for example,
 * `dynsel_policy_init.c1a2b3c4d` as undefined. The functions through which every program must go
 * (the `*_init` functions) carry it.
 */
#define DYNSEL_TAGGED(name) __asm__(name "." DYNSEL_CONFIG_TAG_TEXT)

#define DYNSEL_STRINGIZE_(x)   #x
#define DYNSEL_STRINGIZE(x)    DYNSEL_STRINGIZE_(x)
#define DYNSEL_CONFIG_TAG_TEXT DYNSEL_STRINGIZE(DYNSEL_CONFIG_TAG)

#endif
