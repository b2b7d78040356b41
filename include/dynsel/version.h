/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The version of the interface: the only place where it is written. Versions are numbered as in
 * Semantic Versioning; while the major number is 0, a new minor number may change the interface
 * (doc/stability.md says which parts do not change).
 *
 *     #if DYNSEL_VERSION < DYNSEL_VERSION_NUMBER(0, 1, 0)
 *     #error "dynsel 0.1.0 or later is needed"
 *     #endif
 */
#ifndef DYNSEL_VERSION_H
#define DYNSEL_VERSION_H

#define DYNSEL_VERSION_MAJOR 0 /**< changes with a change of the stable interface */
#define DYNSEL_VERSION_MINOR 1 /**< changes with additions */
#define DYNSEL_VERSION_PATCH 0 /**< changes with corrections */

/** A version as one number, for comparisons in `#if`; minor and patch are below 1000. */
#define DYNSEL_VERSION_NUMBER(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))

/** This version as one number. */
#define DYNSEL_VERSION                                                                             \
    DYNSEL_VERSION_NUMBER(DYNSEL_VERSION_MAJOR, DYNSEL_VERSION_MINOR, DYNSEL_VERSION_PATCH)

#define DYNSEL_VERSION_TEXT_(major, minor, patch)    #major "." #minor "." #patch
#define DYNSEL_VERSION_TEXT_OF_(major, minor, patch) DYNSEL_VERSION_TEXT_(major, minor, patch)

/** This version as text, such as "0.1.0". */
#define DYNSEL_VERSION_TEXT                                                                        \
    DYNSEL_VERSION_TEXT_OF_(DYNSEL_VERSION_MAJOR, DYNSEL_VERSION_MINOR, DYNSEL_VERSION_PATCH)

#endif
