/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text of a selector into terms; <dynsel/opencl.h> has the grammar. */
#ifndef DYNSEL_BACKENDS_OPENCL_SELECTOR_PARSER_H
#define DYNSEL_BACKENDS_OPENCL_SELECTOR_PARSER_H

#include <stdint.h>

#include <dynsel/status.h>

#include "base/text_slice.h"

/* In all alternatives of a selector together. */
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
    uint32_t alternative; /* its number; the terms of an alternative are consecutive */
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
 * function: for the error. from: for the error, where the text was set; NULL: the argument of the
 * call.
 * Errors: DYNSEL_E_INVALID: the subject is the wrong word, the number its position.
 */
dynsel_status dynsel_opencl_parse(const char *text, const char *function, const char *from,
                                  dynsel_opencl_selector *selector);

#if CONFIG_DYNSEL_ERROR_TEXTS
/* Quotes a part of a selector for the subject of an error: `DYNSEL_OPENCL: "gpux", meaning "gpu"?`.
 * The result outlives the text of the selector; the fourth call after this one overwrites it. from,
 * meant: may be NULL. */
const char *dynsel_opencl_quote(const char *from, dynsel_text_slice word, const char *meant);
#endif

#endif
