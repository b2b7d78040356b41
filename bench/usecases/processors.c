/* SPDX-License-Identifier: Apache-2.0 */
#include "processors.h"

#include <stdlib.h>

void processors_clear(processors *p, size_t count)
{
    p->count = count;
    for (size_t i = 0; i < count; i++) {
        p->all[i].count = 0;
    }
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* At no time before it are so many of them free for so long. */
static double when_so_many_fit(const processors *p, size_t wanted, double ready_ns, double takes_ns)
{
    double fits[SCHEDULE_MOST_PROCESSORS] = {0};
    for (size_t i = 0; i < p->count; i++) {
        fits[i] = timeline_fit(&p->all[i], ready_ns, takes_ns);
    }
    qsort(fits, p->count, sizeof fits[0], ascending);
    return fits[wanted - 1];
}

double processors_fit(const processors *p, const timeline *resource, size_t wanted, double ready_ns,
                      double takes_ns)
{
    double begin = timeline_fit(resource, ready_ns, takes_ns);
    if (wanted == 0) {
        return begin;
    }
    for (;;) {
        const double free_ns = when_so_many_fit(p, wanted, begin, takes_ns);
        if (free_ns <= begin) {
            return begin;
        }
        begin = timeline_fit(resource, free_ns, takes_ns);
    }
}

bool processors_take(processors *p, size_t wanted, double begin_ns, double end_ns)
{
    bool has_memory = true;
    size_t left = wanted;
    for (size_t i = 0; left != 0 && i < p->count; i++) {
        if (timeline_fit(&p->all[i], begin_ns, end_ns - begin_ns) <= begin_ns) {
            has_memory = timeline_take(&p->all[i], begin_ns, end_ns) && has_memory;
            left--;
        }
    }
    return has_memory;
}

void processors_free(processors *p)
{
    for (size_t i = 0; i < SCHEDULE_MOST_PROCESSORS; i++) {
        timeline_free(&p->all[i]);
    }
}
