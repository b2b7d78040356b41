/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The aspects of all devices, or of any device, of this build: known at compile time.
 *
 * `dynsel_all_devices_have(fp64)` is 1 when every device target that the configuration chose
 * promises the aspect, else 0. `dynsel_any_device_has(fp64)` is 0 when no chosen target can have
 * it, else 1. Both are 0 or 1 in `#if`, in `_Static_assert`, in C, C++ and OpenCL C, for each
 * aspect of <dynsel/aspects.def> that is in the configuration. Any other name does not compile: in
 * C the message has DYNSEL_NO_SUCH_ASPECT_ and the name in it, in `#if` the line is shown.
 *
 *     #if dynsel_any_device_has(fp64)
 *     static dynsel_status solve_in_double(...)
 *     #endif
 *
 * An aspect's name is not expanded as a macro, unless it is handed through a macro of your own.
 * Nothing here depends on a header of the language's, and no macro takes a variable number of
 * arguments, because the same text goes in front of OpenCL programs.
 *
 * Source: seed 003. Its macros (__DYNSEL_ALL_DEVICES_HAVE_x__, __DYNSEL_ANY_DEVICE_HAS_x__,
 * __DYNSEL_ANY_DEVICE_HAS_ANY_ASPECT__) are in the generated <dynsel/aspect_sets.h>.
 */
#ifndef DYNSEL_ASPECT_TRAITS_H
#define DYNSEL_ASPECT_TRAITS_H

#include <dynsel/aspect_names.h>
#include <dynsel/aspect_sets.h>

/* A macro of the seed's is 1 or not there; the names header turns the one that is not there into 0,
 * if it is an aspect's. */
#define DYNSEL_TRAIT_1             1
#define DYNSEL_TRAIT_PASTE_(value) DYNSEL_TRAIT_##value
#define DYNSEL_TRAIT_(value)       DYNSEL_TRAIT_PASTE_(value)

/** 1 if each device of each target of this build has the aspect, else 0. */
#define dynsel_all_devices_have(aspect)                                                            \
    DYNSEL_NO_SUCH_ASPECT_##aspect DYNSEL_TRAIT_(__DYNSEL_ALL_DEVICES_HAVE_##aspect##__)

/** 1 if some device of some target of this build may have the aspect, else 0. */
#if defined(__DYNSEL_ANY_DEVICE_HAS_ANY_ASPECT__)
#define dynsel_any_device_has(aspect) DYNSEL_NO_SUCH_ASPECT_##aspect 1
#else
#define dynsel_any_device_has(aspect)                                                              \
    DYNSEL_NO_SUCH_ASPECT_##aspect DYNSEL_TRAIT_(__DYNSEL_ANY_DEVICE_HAS_##aspect##__)
#endif

#endif
