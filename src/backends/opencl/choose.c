/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/choose.h"

#include "backends/opencl/version.h"
#include "port/atomic.h"

typedef dynsel_opencl_entry entry;

/* The terms of one alternative, and what stands in them. */
typedef struct alternative {
    const dynsel_opencl_term *begin;
    const dynsel_opencl_term *end;
    bool emulators; /* are wanted */
    bool has_index;
    uint64_t index;
} alternative;

static uint64_t bit(uint32_t index)
{
    return UINT64_C(1) << index;
}

static bool term_holds(const dynsel_opencl_table *table, const entry *device,
                       const dynsel_opencl_term *term)
{
    switch (term->kind) {
    case DYNSEL_OPENCL_TERM_PLATFORM:
        return dynsel_text_contains(table->platforms[device->platform].name, term->text);
    case DYNSEL_OPENCL_TERM_VENDOR:
        return dynsel_text_contains(device->vendor, term->text);
    case DYNSEL_OPENCL_TERM_NAME:
        return dynsel_text_contains(device->name, term->text);
    case DYNSEL_OPENCL_TERM_TYPE:
        return (device->type & term->number) != 0;
    case DYNSEL_OPENCL_TERM_EMULATOR:
        return device->emulator;
    case DYNSEL_OPENCL_TERM_INDEX: /* counted once the others are known */
    case DYNSEL_OPENCL_TERM_ALL:
        break;
    }
    return true;
}

static bool fits(const dynsel_opencl_table *table, const entry *device, const alternative *terms)
{
    for (const dynsel_opencl_term *term = terms->begin; term != terms->end; term++) {
        if (!term_holds(table, device, term)) {
            return false;
        }
    }
    return true;
}

/* The alternative that begins at `begin`. */
static alternative next_alternative(const dynsel_opencl_term *begin, const dynsel_opencl_term *end)
{
    alternative terms = {.begin = begin, .end = begin};
    while (terms.end != end && terms.end->alternative == begin->alternative) {
        terms.emulators |= terms.end->kind == DYNSEL_OPENCL_TERM_EMULATOR;
        if (terms.end->kind == DYNSEL_OPENCL_TERM_INDEX) {
            terms.has_index = true;
            terms.index = terms.end->number;
        }
        terms.end++;
    }
    return terms;
}

/* DYNSEL_OPENCL_CHOSEN: nothing is known against it. */
static dynsel_opencl_verdict condition(const entry *device)
{
    const uint32_t state = dynsel_word_load_acquire(&device->state);
    if (state == DYNSEL_OPENCL_DEAD) {
        return DYNSEL_OPENCL_LOST;
    }
    if (dynsel_opencl_is_too_old(device)) {
        return DYNSEL_OPENCL_TOO_OLD;
    }
    if (!device->available || state == DYNSEL_OPENCL_FAILED) {
        return DYNSEL_OPENCL_UNAVAILABLE;
    }
    return DYNSEL_OPENCL_CHOSEN;
}

/*
 * A device that cannot be used keeps its place in the counting, so that an index means the same
 * device before and after another one was lost; but it does not stand in the way of its twin.
 */
static void choose_among(const dynsel_opencl_table *table, const alternative *terms,
                         dynsel_opencl_choice *choice)
{
    uint64_t kept = 0;
    uint64_t place = 0;
    for (uint32_t i = 0; i < table->found; i++) {
        const entry *const device = &table->entries[i];
        if (!fits(table, device, terms)) {
            continue;
        }
        dynsel_opencl_verdict verdict = condition(device);
        if (device->emulator && !terms->emulators) {
            verdict = DYNSEL_OPENCL_EMULATOR;
        } else if ((device->twins & kept) != 0) {
            verdict = DYNSEL_OPENCL_DUPLICATE;
        } else {
            kept |= verdict == DYNSEL_OPENCL_CHOSEN ? bit(i) : 0;
            if (terms->has_index && place != terms->index) {
                verdict = DYNSEL_OPENCL_NOT_SELECTED;
            }
            place++;
        }
        if (verdict == DYNSEL_OPENCL_CHOSEN) {
            choice->chosen |= bit(i);
        } else if (verdict != DYNSEL_OPENCL_NOT_SELECTED) {
            choice->verdicts[i] = verdict;
        }
    }
}

/* Two alternatives may have chosen the same physical device through different platforms. */
static void finish_choice(const dynsel_opencl_table *table, dynsel_opencl_choice *choice)
{
    uint64_t kept = 0;
    for (uint32_t i = 0; i < table->found; i++) {
        if ((choice->chosen & bit(i)) == 0) {
            continue;
        }
        if ((table->entries[i].twins & kept) != 0) {
            choice->verdicts[i] = DYNSEL_OPENCL_DUPLICATE;
        } else {
            choice->verdicts[i] = DYNSEL_OPENCL_CHOSEN;
            kept |= bit(i);
            choice->count++;
        }
    }
    choice->chosen = kept;
}

void dynsel_opencl_choose(const dynsel_opencl_table *table, const dynsel_opencl_selector *selector,
                          dynsel_opencl_choice *choice)
{
    const dynsel_opencl_term *const end = selector->terms + selector->count;
    choice->chosen = 0;
    choice->count = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_MAX_DEVICES; i++) {
        choice->verdicts[i] = DYNSEL_OPENCL_NOT_SELECTED;
    }
    for (const dynsel_opencl_term *begin = selector->terms; begin != end;) {
        const alternative terms = next_alternative(begin, end);
        choose_among(table, &terms, choice);
        begin = terms.end;
    }
    finish_choice(table, choice);
}
