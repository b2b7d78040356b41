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
 * Puts the configuration's tag into the symbol of a function, so that headers and a library of
 * different configurations do not link: the linker then reports, for example,
 * `dynsel_policy_init.of_headers_c1a2b3c4d.take_library_and_headers_from_one_build` as undefined.
 * The functions through which every program must go (the `*_init` functions) carry it.
 */
#define DYNSEL_TAGGED(name)                                                                        \
    __asm__(name ".of_headers_" DYNSEL_CONFIG_TAG_TEXT ".take_library_and_headers_from_one_build")

#define DYNSEL_STRINGIZE_(x)   #x
#define DYNSEL_STRINGIZE(x)    DYNSEL_STRINGIZE_(x)
#define DYNSEL_CONFIG_TAG_TEXT DYNSEL_STRINGIZE(DYNSEL_CONFIG_TAG)

/*
 * With GCC, objects of two configurations do not link either, even if they call no tagged
 * function: each defines the same symbol, in a section named after its configuration. Of equal
 * sections the linker keeps one; of different ones it names both. The section is empty, and
 * reaches no target. Clang cannot do this with -flto. DYNSEL_ONE_BUILD: defined by builds with one
 * configuration, whose linker reports each section that its script lacks.
 */
#if defined(__ELF__) && !defined(__clang__) && !defined(DYNSEL_ONE_BUILD)
#define DYNSEL_ONE_CONFIGURATION "dynsel_headers_and_library_differ.take_both_from_one_build"
__asm__(".ifndef .Ldynsel_" DYNSEL_CONFIG_TAG_TEXT "\n"
        ".set .Ldynsel_" DYNSEL_CONFIG_TAG_TEXT ", 1\n"
        ".pushsection .dynsel.configuration." DYNSEL_CONFIG_TAG_TEXT ",\"G\",%progbits,"
        "dynsel.configuration." DYNSEL_CONFIG_TAG_TEXT ",comdat\n"
        ".globl " DYNSEL_ONE_CONFIGURATION "\n"
        ".hidden " DYNSEL_ONE_CONFIGURATION "\n" DYNSEL_ONE_CONFIGURATION ":\n"
        ".popsection\n"
        ".endif\n");
#endif

#endif
