/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "processors.h"
#include "timeline.h"

enum { ANY = UINT32_MAX };

/* A buffer while pieces are placed: in the order of ranks, which is one of the dependencies. */
typedef struct buffer_state {
    double valid_ns[SCHEDULE_MOST_DOMAINS]; /* a copy is there from then on; INFINITY: none */
    double written_ns;                      /* the last writer ends */
    double read_ns;                         /* the last reader since then ends */
} buffer_state;

/* What a piece would wait for if it wrote or read a buffer now, seen from the end. */
typedef struct later {
    double writer_rank;
    double readers_rank;
} later;

typedef struct ranked {
    double rank;
    uint32_t piece;
} ranked;

typedef struct maker {
    const schedule *s;
    const schedule_machine *m;
    uint32_t only; /* one resource for all pieces, or ANY */
    ranked *order;
    buffer_state *states;
    later *laters;
    timeline work[SCHEDULE_MOST_RESOURCES];
    processors host;
    timeline links[SCHEDULE_MOST_DOMAINS][SCHEDULE_MOST_DOMAINS];
    bool has_memory;
    schedule_plan plan;
} maker;

/* The copies that one piece needs. */
typedef struct copy {
    uint32_t buffer;
    uint32_t from;
    double begin_ns;
    double end_ns;
} copy;

typedef struct copies {
    copy all[SCHEDULE_MOST_USES];
    size_t count;
} copies;

/* One way to place a piece. */
typedef struct choice {
    uint32_t resource;
    size_t processors;
    double begin_ns;
    double end_ns;
    copies needs;
} choice;

schedule_status schedule_open(schedule *s, size_t most_pieces, size_t buffer_count)
{
    *s = (schedule){.most_pieces = most_pieces, .buffer_count = buffer_count};
    s->pieces = calloc(most_pieces + 1, sizeof *s->pieces);
    s->buffers = calloc(buffer_count + 1, sizeof *s->buffers);
    return s->pieces != NULL && s->buffers != NULL ? SCHEDULE_OK : SCHEDULE_NO_MEMORY;
}

schedule_status schedule_add(schedule *s, const schedule_piece *piece)
{
    if (s->piece_count == s->most_pieces || piece->use_count > SCHEDULE_MOST_USES) {
        return SCHEDULE_FULL;
    }
    for (uint32_t i = 0; i < piece->use_count; i++) {
        if (piece->uses[i].buffer >= s->buffer_count) {
            return SCHEDULE_INVALID;
        }
    }
    s->pieces[s->piece_count++] = *piece;
    return SCHEDULE_OK;
}

void schedule_close(schedule *s)
{
    free(s->pieces);
    free(s->buffers);
    *s = (schedule){0};
}

static double copy_ns(const schedule_machine *m, uint32_t from, uint32_t to, double bytes)
{
    const schedule_link *link = &m->links[from][to];
    return from == to || bytes <= 0 ? 0 : link->latency_ns + bytes / link->bytes_per_ns;
}

/* The mean over all pairs of resources. */
static double mean_copy_ns(const schedule_machine *m, double bytes)
{
    double sum = 0;
    for (size_t i = 0; i < m->resource_count; i++) {
        for (size_t k = 0; k < m->resource_count; k++) {
            sum += copy_ns(m, m->domain_of[i], m->domain_of[k], bytes);
        }
    }
    return sum / (double)(m->resource_count * m->resource_count);
}

/* The mean over the resources that can run it; NAN: none. */
static double mean_ns(const schedule_machine *m, uint32_t kind)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < m->resource_count; i++) {
        if (isfinite(m->ns[kind][i])) {
            sum += m->ns[kind][i];
            count++;
        }
    }
    return sum / (double)count;
}

static double larger(double one, double other)
{
    return one > other ? one : other;
}

/* The longest way from the begin of this piece to the end of the last one that follows from it. */
static double rank_of(maker *k, const schedule_piece *piece)
{
    double after = 0;
    for (uint32_t i = 0; i < piece->use_count; i++) {
        const schedule_use *use = &piece->uses[i];
        const later *then = &k->laters[use->buffer];
        after = larger(after, then->writer_rank);
        if (use->writes && then->readers_rank > 0) {
            after = larger(after, then->readers_rank +
                                      mean_copy_ns(k->m, k->s->buffers[use->buffer].bytes));
        }
    }
    return after + mean_ns(k->m, piece->kind);
}

static void note_rank(maker *k, const schedule_piece *piece, double rank)
{
    for (uint32_t i = 0; i < piece->use_count; i++) {
        const schedule_use *use = &piece->uses[i];
        later *then = &k->laters[use->buffer];
        if (use->writes) {
            then->writer_rank = rank;
            then->readers_rank = use->reads ? rank : 0;
        } else if (use->reads) {
            then->readers_rank = larger(then->readers_rank, rank);
        }
    }
}

static int by_rank(const void *left, const void *right)
{
    const ranked *a = left;
    const ranked *b = right;
    if (a->rank != b->rank) {
        return a->rank < b->rank ? 1 : -1;
    }
    return (a->piece > b->piece) - (a->piece < b->piece);
}

static void rank_all(maker *k)
{
    (void)memset(k->laters, 0, k->s->buffer_count * sizeof *k->laters);
    for (size_t i = k->s->piece_count; i > 0; i--) {
        const schedule_piece *piece = &k->s->pieces[i - 1];
        const double rank = rank_of(k, piece);
        note_rank(k, piece, rank);
        k->order[i - 1] = (ranked){.rank = rank, .piece = (uint32_t)(i - 1)};
    }
    qsort(k->order, k->s->piece_count, sizeof *k->order, by_rank);
}

/* When a link is free for this piece, which may have planned copies on it. */
static double planned_until(const copies *c, uint32_t from)
{
    double until = 0;
    for (size_t i = 0; i < c->count; i++) {
        until = c->all[i].from == from ? larger(until, c->all[i].end_ns) : until;
    }
    return until;
}

/* The copy of a buffer that arrives first; end_ns is INFINITY if no memory has it. */
static copy first_copy(const maker *k, uint32_t buffer, uint32_t to, const copies *planned)
{
    copy best = {.buffer = buffer, .end_ns = INFINITY};
    for (uint32_t from = 0; from < k->m->domain_count; from++) {
        const double there = k->states[buffer].valid_ns[from];
        if (from == to || !isfinite(there)) {
            continue;
        }
        const double takes = copy_ns(k->m, from, to, k->s->buffers[buffer].bytes);
        const double begin =
            timeline_fit(&k->links[from][to], larger(there, planned_until(planned, from)), takes);
        if (begin + takes < best.end_ns) {
            best =
                (copy){.buffer = buffer, .from = from, .begin_ns = begin, .end_ns = begin + takes};
        }
    }
    return best;
}

/* When the data of a use are there and may be used. */
static double ready_ns(const maker *k, const schedule_use *use, uint32_t domain, copies *needs)
{
    const buffer_state *now = &k->states[use->buffer];
    double ready = use->writes ? larger(now->written_ns, now->read_ns) : 0;
    if (use->reads && isfinite(now->valid_ns[domain])) {
        ready = larger(ready, now->valid_ns[domain]);
    } else if (use->reads) {
        const copy one = first_copy(k, use->buffer, domain, needs);
        needs->all[needs->count++] = one;
        ready = larger(ready, one.end_ns);
    }
    return ready;
}

/* The piece on so many processors of the host, where it can begin at `ready->begin_ns`. */
static choice fit(const maker *k, const choice *ready, double takes_ns, size_t wanted)
{
    choice c = *ready;
    c.processors = wanted;
    c.begin_ns = processors_fit(&k->host, &k->work[c.resource], wanted, ready->begin_ns, takes_ns);
    c.end_ns = c.begin_ns + takes_ns;
    return c;
}

/* On all processors that the resource computes on, on all but one, or on half, a quarter of these,
 * and so on. */
static choice try(const maker *k, uint32_t piece, uint32_t resource)
{
    const schedule_piece *what = &k->s->pieces[piece];
    choice c = {.resource = resource, .begin_ns = piece * k->m->submit_ns};
    for (uint32_t i = 0; i < what->use_count; i++) {
        c.begin_ns =
            larger(c.begin_ns, ready_ns(k, &what->uses[i], k->m->domain_of[resource], &c.needs));
    }
    const double takes = k->m->ns[what->kind][resource];
    const uint32_t all = k->m->processors[resource];
    choice best = fit(k, &c, takes, all);
    for (uint32_t some = all > 1 ? all - 1 : 0; some != 0; some /= 2) {
        const choice one = fit(k, &c, takes * all / some, some);
        best = one.end_ns < best.end_ns ? one : best;
    }
    return best;
}

static void copy_in(maker *k, const copy *one, uint32_t to)
{
    const bool kept = timeline_take(&k->links[one->from][to], one->begin_ns, one->end_ns);
    k->has_memory = k->has_memory && kept;
    k->states[one->buffer].valid_ns[to] = one->end_ns;
    k->plan.copied_bytes += k->s->buffers[one->buffer].bytes;
}

static void write(buffer_state *now, uint32_t domain, double end_ns)
{
    for (size_t i = 0; i < SCHEDULE_MOST_DOMAINS; i++) {
        now->valid_ns[i] = INFINITY;
    }
    now->valid_ns[domain] = end_ns;
    now->written_ns = end_ns;
    now->read_ns = 0;
}

static void take(maker *k, const schedule_piece *what, const choice *c)
{
    const uint32_t domain = k->m->domain_of[c->resource];
    for (size_t i = 0; i < c->needs.count; i++) {
        copy_in(k, &c->needs.all[i], domain);
    }
    for (uint32_t i = 0; i < what->use_count; i++) {
        buffer_state *now = &k->states[what->uses[i].buffer];
        if (what->uses[i].writes) {
            write(now, domain, c->end_ns);
        } else {
            now->read_ns = larger(now->read_ns, c->end_ns);
        }
    }
    const bool kept = timeline_take(&k->work[c->resource], c->begin_ns, c->end_ns) &&
                      processors_take(&k->host, c->processors, c->begin_ns, c->end_ns);
    k->has_memory = k->has_memory && kept;
    k->plan.pieces_on[c->resource]++;
    k->plan.makespan_ns = larger(k->plan.makespan_ns, c->end_ns);
}

static void place(maker *k, uint32_t piece)
{
    const schedule_piece *what = &k->s->pieces[piece];
    choice best = {.end_ns = INFINITY};
    for (uint32_t i = 0; i < k->m->resource_count; i++) {
        if ((k->only == ANY || k->only == i) && isfinite(k->m->ns[what->kind][i])) {
            const choice one = try(k, piece, i);
            best = one.end_ns < best.end_ns ? one : best;
        }
    }
    if (isfinite(best.end_ns)) {
        take(k, what, &best);
    } else {
        k->plan.makespan_ns = INFINITY;
    }
}

static void bring_results(maker *k)
{
    for (uint32_t i = 0; i < k->s->buffer_count; i++) {
        if (!k->s->buffers[i].is_result || isfinite(k->states[i].valid_ns[SCHEDULE_HOST])) {
            continue;
        }
        const copy one = first_copy(k, i, SCHEDULE_HOST, &(copies){.count = 0});
        copy_in(k, &one, SCHEDULE_HOST);
        k->plan.makespan_ns = larger(k->plan.makespan_ns, one.end_ns);
    }
}

static void reset(maker *k)
{
    k->plan = (schedule_plan){.makespan_ns = 0};
    for (size_t i = 0; i < k->s->buffer_count; i++) {
        write(&k->states[i], SCHEDULE_HOST, 0);
    }
    for (size_t i = 0; i < SCHEDULE_MOST_RESOURCES; i++) {
        k->work[i].count = 0;
    }
    processors_clear(&k->host, k->m->processor_count);
    for (size_t i = 0; i < SCHEDULE_MOST_DOMAINS; i++) {
        for (size_t j = 0; j < SCHEDULE_MOST_DOMAINS; j++) {
            k->links[i][j].count = 0;
        }
    }
}

/* The schedule with all resources, or with one alone. */
static void make(maker *k, uint32_t only)
{
    reset(k);
    k->only = only;
    for (size_t i = 0; i < k->s->piece_count && k->has_memory && isfinite(k->plan.makespan_ns);
         i++) {
        place(k, k->order[i].piece);
    }
    if (isfinite(k->plan.makespan_ns)) {
        bring_results(k);
    }
}

static bool is_valid(const schedule *s, const schedule_machine *m)
{
    if (m->resource_count == 0 || m->resource_count > SCHEDULE_MOST_RESOURCES ||
        m->domain_count == 0 || m->domain_count > SCHEDULE_MOST_DOMAINS ||
        m->kind_count > SCHEDULE_MOST_KINDS || m->processor_count > SCHEDULE_MOST_PROCESSORS) {
        return false;
    }
    for (size_t i = 0; i < m->resource_count; i++) {
        if (m->domain_of[i] >= m->domain_count || m->processors[i] > m->processor_count) {
            return false;
        }
    }
    for (size_t i = 0; i < s->piece_count; i++) {
        if (s->pieces[i].kind >= m->kind_count || isnan(mean_ns(m, s->pieces[i].kind))) {
            return false;
        }
    }
    return true;
}

static void release(maker *k)
{
    for (size_t i = 0; i < SCHEDULE_MOST_RESOURCES; i++) {
        timeline_free(&k->work[i]);
    }
    processors_free(&k->host);
    for (size_t i = 0; i < SCHEDULE_MOST_DOMAINS; i++) {
        for (size_t j = 0; j < SCHEDULE_MOST_DOMAINS; j++) {
            timeline_free(&k->links[i][j]);
        }
    }
    free(k->order);
    free(k->states);
    free(k->laters);
    free(k);
}

/* The best of the schedule with all resources and those with one. */
static schedule_plan best_plan(maker *k)
{
    rank_all(k);
    make(k, ANY);
    schedule_plan best = k->plan;
    for (uint32_t i = 0; i < k->m->resource_count; i++) {
        make(k, i);
        best = k->plan.makespan_ns < best.makespan_ns ? k->plan : best;
    }
    return best;
}

schedule_status schedule_make(const schedule *s, const schedule_machine *m, schedule_plan *plan)
{
    *plan = (schedule_plan){.makespan_ns = 0};
    if (!is_valid(s, m)) {
        return SCHEDULE_INVALID;
    }
    maker *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return SCHEDULE_NO_MEMORY;
    }
    k->s = s;
    k->m = m;
    k->order = calloc(s->piece_count + 1, sizeof *k->order);
    k->states = calloc(s->buffer_count + 1, sizeof *k->states);
    k->laters = calloc(s->buffer_count + 1, sizeof *k->laters);
    k->has_memory = k->order != NULL && k->states != NULL && k->laters != NULL;
    if (k->has_memory) {
        *plan = best_plan(k);
    }
    const schedule_status status = k->has_memory ? SCHEDULE_OK : SCHEDULE_NO_MEMORY;
    release(k);
    return status;
}
