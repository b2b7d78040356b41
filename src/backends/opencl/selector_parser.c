/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/selector_parser.h"

#include <dynsel/opencl.h>

#include "base/fail.h"
#include "port/atomic.h"
#include "port/likely.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* An error and the wrong word. */
typedef struct mistake {
    const char *detail;
    dynsel_text_slice word;
    const char *meant; /* a similar correct word, or NULL */
} mistake;

static const char *const keys[] = {"platform", "vendor", "name", "type", "index"};
static const dynsel_opencl_term_kind key_kinds[] = {
    DYNSEL_OPENCL_TERM_PLATFORM, DYNSEL_OPENCL_TERM_VENDOR, DYNSEL_OPENCL_TERM_NAME,
    DYNSEL_OPENCL_TERM_TYPE, DYNSEL_OPENCL_TERM_INDEX};

static const char *const types[] = {"cpu", "gpu", "accelerator", "custom"};
static const cl_device_type type_bits[] = {CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
                                           CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CUSTOM};

/* The index of `word` in `list`; `count` if the list lacks it. */
static size_t find(dynsel_text_slice word, const char *const *list, size_t count)
{
    size_t i = 0;
    while (i < count && !dynsel_text_equals(word, list[i])) {
        i++;
    }
    return i;
}

static bool set_mistake(mistake *wrong, const char *detail, dynsel_text_slice word,
                        const char *meant)
{
    *wrong = (mistake){detail, word, meant};
    return false;
}

/* False: the word, which is not empty, is no number. Large numbers become UINT32_MAX, which is no
 * index. */
static bool parse_number(dynsel_text_slice word, uint64_t *number)
{
    uint64_t value = 0;
    for (size_t i = 0; i < word.length; i++) {
        if (word.begin[i] < '0' || word.begin[i] > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(word.begin[i] - '0');
        value = value > UINT32_MAX ? UINT32_MAX : value;
    }
    *number = value;
    return true;
}

static bool parse_value(dynsel_text_slice value, dynsel_opencl_term *term, mistake *wrong)
{
    term->text = value;
    if (value.length == 0) {
        return set_mistake(wrong, "nothing stands behind the `=` at character {}",
                           (dynsel_text_slice){value.begin - 1, 1}, NULL);
    }
    if (term->kind == DYNSEL_OPENCL_TERM_INDEX && !parse_number(value, &term->number)) {
        return set_mistake(wrong, "the index at character {} is no number", value, NULL);
    }
    if (term->kind == DYNSEL_OPENCL_TERM_TYPE) {
        const size_t type = find(value, types, COUNT(types));
        if (type == COUNT(types)) {
            return set_mistake(wrong,
                               "there is no such type, at character {}: the types are cpu, gpu, "
                               "accelerator and custom",
                               value, dynsel_text_nearest(value, types, COUNT(types)));
        }
        term->number = type_bits[type];
    }
    return true;
}

static void parse_word(dynsel_text_slice word, dynsel_opencl_term *term)
{
    const size_t type = find(word, types, COUNT(types));
    term->text = word;
    if (type < COUNT(types)) {
        term->kind = DYNSEL_OPENCL_TERM_TYPE;
        term->number = type_bits[type];
    } else if (parse_number(word, &term->number)) {
        term->kind = DYNSEL_OPENCL_TERM_INDEX;
    } else if (dynsel_text_equals(word, "all")) {
        term->kind = DYNSEL_OPENCL_TERM_ALL;
    } else if (dynsel_text_equals(word, "emulator")) {
        term->kind = DYNSEL_OPENCL_TERM_EMULATOR;
    } else {
        term->kind = DYNSEL_OPENCL_TERM_NAME;
    }
}

static bool parse_term(dynsel_text_slice text, dynsel_opencl_term *term, mistake *wrong)
{
    size_t equals = 0;
    while (equals < text.length && text.begin[equals] != '=') {
        equals++;
    }
    if (equals == text.length) {
        parse_word(text, term);
        return true;
    }
    const dynsel_text_slice key = dynsel_text_trim((dynsel_text_slice){text.begin, equals});
    const size_t kind = find(key, keys, COUNT(keys));
    if (kind == COUNT(keys)) {
        return set_mistake(wrong,
                           "there is no such key, at character {}: the keys are platform, vendor, "
                           "name, type and index",
                           key, dynsel_text_nearest(key, keys, COUNT(keys)));
    }
    term->kind = key_kinds[kind];
    return parse_value(
        dynsel_text_trim((dynsel_text_slice){text.begin + equals + 1, text.length - equals - 1}),
        term, wrong);
}

/* A second type or index in one alternative fits no device: `;` was probably intended. */
static bool contradicts(const dynsel_opencl_selector *selector, const dynsel_opencl_term *term)
{
    for (uint32_t i = 0; i < selector->count; i++) {
        const dynsel_opencl_term *const other = &selector->terms[i];
        if (other->alternative == term->alternative && other->kind == term->kind &&
            (term->kind == DYNSEL_OPENCL_TERM_TYPE || term->kind == DYNSEL_OPENCL_TERM_INDEX)) {
            return true;
        }
    }
    return false;
}

static bool add_term(dynsel_text_slice text, dynsel_opencl_selector *selector, mistake *wrong)
{
    dynsel_opencl_term term = {.alternative = selector->alternatives};
    const dynsel_text_slice trimmed = dynsel_text_trim(text);
    if (trimmed.length == 0) {
        return set_mistake(wrong,
                           "there is an empty term at character {}: `,` stands for and, `;` for or",
                           trimmed, NULL);
    }
    if (!parse_term(trimmed, &term, wrong)) {
        return false;
    }
    if (contradicts(selector, &term)) {
        return set_mistake(wrong,
                           "a second type or index in one alternative, at character {}: no device "
                           "fits both, put `;` between alternatives",
                           trimmed, NULL);
    }
    if (selector->count == DYNSEL_OPENCL_MAX_TERMS) {
        return set_mistake(wrong, "more than 32 terms, from character {} on", trimmed, NULL);
    }
    selector->terms[selector->count++] = term;
    return true;
}

static bool parse(const char *text, dynsel_opencl_selector *selector, mistake *wrong)
{
    const char *begin = text;
    *selector = (dynsel_opencl_selector){0};
    for (const char *end = text;; end++) {
        if (*end != ',' && *end != ';' && *end != '\0') {
            continue;
        }
        if (!add_term((dynsel_text_slice){begin, (size_t)(end - begin)}, selector, wrong)) {
            return false;
        }
        if (*end != ',') {
            selector->alternatives++;
        }
        if (*end == '\0') {
            return true;
        }
        begin = end + 1;
    }
}

#if CONFIG_DYNSEL_ERROR_TEXTS
DYNSEL_RARE const char *dynsel_opencl_quote(const char *from, dynsel_text_slice word,
                                            const char *meant)
{
    static char texts[4][96];
    static dynsel_word turn;
    char *const text = texts[dynsel_word_add_relaxed(&turn, 1) % COUNT(texts)];
    const size_t bytes = sizeof(texts[0]);
    text[0] = '\0';
    if (from != NULL) {
        dynsel_text_append(text, bytes, dynsel_text_slice_of(from));
        dynsel_text_append(text, bytes, dynsel_text_slice_of(": "));
    }
    dynsel_text_append(text, bytes, dynsel_text_slice_of("\""));
    dynsel_text_append(text, bytes / 2, word);
    dynsel_text_append(text, bytes, dynsel_text_slice_of("\""));
    if (meant != NULL) {
        dynsel_text_append(text, bytes, dynsel_text_slice_of(", meaning \""));
        dynsel_text_append(text, bytes, dynsel_text_slice_of(meant));
        dynsel_text_append(text, bytes, dynsel_text_slice_of("\"?"));
    }
    return text;
}
#endif

DYNSEL_RARE dynsel_status dynsel_opencl_parse(const char *text, const char *function,
                                              const char *from, dynsel_opencl_selector *selector)
{
    mistake wrong = {0};
    if (dynsel_text_trim(dynsel_text_slice_of(text)).length == 0) {
        text = "all";
    }
    if (parse(text, selector, &wrong)) {
        return DYNSEL_OK;
    }
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)from;
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_INVALID,
        .number = (uint32_t)(wrong.word.begin - text) + 1,
        .function = DYNSEL_TEXT(function),
        .subject = DYNSEL_TEXT(dynsel_opencl_quote(from, wrong.word, wrong.meant)),
        .detail = DYNSEL_TEXT(wrong.detail),
    });
}
