/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Device aspects: their names as values, and sets of them.
 *
 * <dynsel/aspect_traits.h> has the aspects that a whole build can rely on, <dynsel/device.h> those
 * of a single device.
 *
 * Source: seed 003; SYCL 2020, section 4.6.4.3.
 */
#ifndef DYNSEL_ASPECTS_H
#define DYNSEL_ASPECTS_H

#include <stdint.h>

#include <dynsel/aspect_traits.h>
#include <dynsel/config.h>

DYNSEL_BEGIN_DECLS

/** DYNSEL_ASPECT_fp64 and so on: each aspect of the configuration, numbered from 0 in the order of
 * the list. The numbers differ between configurations. */
typedef enum dynsel_aspect {
#define DYNSEL_ASPECT(name, text, host, opencl) DYNSEL_ASPECT_##name,
#include <dynsel/aspects.def>
    DYNSEL_ASPECT_END_ /**< no aspect: one past the last */
} dynsel_aspect;

/** A set of aspects, one bit for each; | unites, & intersects. Half as large when at most 32 are
 * configured.
 */
#if DYNSEL_ASPECT_COUNT <= 32
typedef uint32_t dynsel_aspect_set;
#else
typedef uint64_t dynsel_aspect_set;
#endif

DYNSEL_STATIC_ASSERT_(DYNSEL_ASPECT_COUNT == DYNSEL_ASPECT_END_,
                      "the generated header is of another list of aspects: build again");
DYNSEL_STATIC_ASSERT_(DYNSEL_ASPECT_COUNT <= 64,
                      "a set has 64 bits: leave aspects out in the menu, or make the set larger");

/** The set of one aspect, by its name: `DYNSEL_ASPECT_BIT(fp64) | DYNSEL_ASPECT_BIT(image)`. A
 * constant expression. A name that is no aspect, or was left out, does not compile. */
#define DYNSEL_ASPECT_BIT(aspect) ((dynsel_aspect_set)1 << DYNSEL_ASPECT_##aspect)

#if CONFIG_DYNSEL_ASPECTS

/**
 * The name of an aspect, such as "fp64".
 *
 * Returns: static text; "unknown aspect" for any other number.
 * Errors: none.
 * Context: any.
 * Cost: constant.
 */
const char *dynsel_aspect_name(dynsel_aspect aspect);

/** The meaning of an aspect, one clause in English, such as "computes with
 * double precision"; with the same rules as dynsel_aspect_name(). Empty without
 * CONFIG_DYNSEL_ERROR_TEXTS. */
const char *dynsel_aspect_text(dynsel_aspect aspect);

#endif

DYNSEL_END_DECLS

#endif
