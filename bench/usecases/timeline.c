/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

/* The first span that ends after `ns`. */
static size_t first_after(const timeline *t, double ns)
{
    size_t low = 0;
    size_t high = t->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (t->spans[middle].end_ns > ns) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

double timeline_fit(const timeline *t, double ready_ns, double takes_ns)
{
    double begin = ready_ns;
    for (size_t i = first_after(t, ready_ns); i < t->count; i++) {
        if (t->spans[i].begin_ns >= begin + takes_ns) {
            return begin;
        }
        begin = t->spans[i].end_ns > begin ? t->spans[i].end_ns : begin;
    }
    return begin;
}

static bool grow(timeline *t)
{
    const size_t room = t->room == 0 ? 64 : 2 * t->room;
    timeline_span *spans = realloc(t->spans, room * sizeof *spans);
    if (spans != NULL) {
        t->spans = spans;
        t->room = room;
    }
    return spans != NULL;
}

bool timeline_take(timeline *t, double begin_ns, double end_ns)
{
    if (end_ns <= begin_ns) {
        return true;
    }
    if (t->count == t->room && !grow(t)) {
        return false;
    }
    const size_t i = first_after(t, begin_ns);
    (void)memmove(&t->spans[i + 1], &t->spans[i], (t->count - i) * sizeof t->spans[0]);
    t->spans[i] = (timeline_span){begin_ns, end_ns};
    t->count++;
    return true;
}

void timeline_free(timeline *t)
{
    free(t->spans);
    *t = (timeline){0};
}
