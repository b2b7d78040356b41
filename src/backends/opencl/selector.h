/* SPDX-License-Identifier: Apache-2.0 */
/* The selector's text and its parsed form; the grammar stands in dynsel/opencl.h. */
#ifndef DYNSEL_BACKENDS_OPENCL_SELECTOR_H
#define DYNSEL_BACKENDS_OPENCL_SELECTOR_H

#include <stdint.h>

#include <dynsel/status.h>

#include "base/text_slice.h"

/* In one selector, over all its alternatives. */
enum { DYNSEL_OPENCL_MAX_TERMS = 32 };

typedef enum dynsel_opencl_term_kind {
    DYNSEL_OPENCL_TERM_PLATFORM,
    DYNSEL_OPENCL_TERM_VENDOR,
    DYNSEL_OPENCL_TERM_NAME,
    DYNSEL_OPENCL_TERM_TYPE,
    DYNSEL_OPENCL_TERM_INDEX,
    DYNSEL_OPENCL_TERM_ALL,
    DYNSEL_OPENCL_TERM_EMULATOR
} dynsel_opencl_term_kind;

typedef struct dynsel_opencl_term {
    dynsel_opencl_term_kind kind;
    uint32_t alternative; /* terms of one alternative stand together */
    uint64_t number;      /* an index, or the bits of a type */
    dynsel_text_slice text;
} dynsel_opencl_term;

typedef struct dynsel_opencl_selector {
    uint32_t count;
    uint32_t alternatives;
    dynsel_opencl_term terms[DYNSEL_OPENCL_MAX_TERMS];
} dynsel_opencl_selector;

/*
 * Parses `text`, which must live as long as `selector`.
 *
 * function: whose failure it would be. from: where the text comes from, for the error; NULL: the
 * caller knows.
 * Errors: DYNSEL_E_INVALID: the error's subject is the wrong word, its number where it stands.
 */
dynsel_status dynsel_opencl_parse(const char *text, const char *function, const char *from,
                                  dynsel_opencl_selector *selector);

#if CONFIG_DYNSEL_ERROR_TEXTS
/* A part of a selector as an error's subject, as `DYNSEL_OPENCL: "gpux", meaning "gpu"?`. It
 * outlives the selector's text: it is overwritten by the fourth one after it. from, meant: may be
 * NULL. */
const char *dynsel_opencl_quote(const char *from, dynsel_text_slice word, const char *meant);
#endif

#endif
