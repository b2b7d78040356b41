/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of the use cases, on graphs that can be scheduled by hand. */
#include <math.h>
#include <string.h>

#include "../../bench/usecases/processors.c"
#include "../../bench/usecases/schedule.c"
#include "../../bench/usecases/timeline.c"
#include "test.h"

enum { READS = 1, WRITES = 2, DEVICE = 1 };

static schedule graph;
static schedule_machine machine;
static schedule_plan plan;

static void open_graph(size_t most_pieces, size_t buffers)
{
    assert_int_equal(SCHEDULE_OK, schedule_open(&graph, most_pieces, buffers));
}

/* Two resources with the host's memory, and one kind of work that takes 10 on both. */
static int set_up(void **state)
{
    (void)state;
    machine = (schedule_machine){.resource_count = 2, .domain_count = 1, .kind_count = 1};
    machine.ns[0][0] = 10;
    machine.ns[0][1] = 10;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    schedule_close(&graph);
    return 0;
}

/* The second resource gets a memory of its own; a copy takes 5 and 1 for each byte. */
static void move_apart(void)
{
    machine.domain_count = 2;
    machine.domain_of[1] = DEVICE;
    machine.links[SCHEDULE_HOST][DEVICE] = (schedule_link){.latency_ns = 5, .bytes_per_ns = 1};
    machine.links[DEVICE][SCHEDULE_HOST] = (schedule_link){.latency_ns = 5, .bytes_per_ns = 1};
}

static schedule_use use(uint32_t buffer, unsigned how)
{
    return (schedule_use){
        .buffer = buffer, .reads = (how & READS) != 0, .writes = (how & WRITES) != 0};
}

static void add_one(uint32_t kind, schedule_use only)
{
    const schedule_piece piece = {.kind = kind, .use_count = 1, .uses = {only}};
    assert_int_equal(SCHEDULE_OK, schedule_add(&graph, &piece));
}

static void add_two(uint32_t kind, schedule_use one, schedule_use other)
{
    const schedule_piece piece = {.kind = kind, .use_count = 2, .uses = {one, other}};
    assert_int_equal(SCHEDULE_OK, schedule_add(&graph, &piece));
}

static void assert_takes(double ns)
{
    assert_int_equal(SCHEDULE_OK, schedule_make(&graph, &machine, &plan));
    assert_true(fabs(plan.makespan_ns - ns) < 1e-6);
}

static void empty_graph_takes_no_time(void **state)
{
    (void)state;
    open_graph(0, 0);
    assert_takes(0);
    assert_int_equal(0, plan.pieces_on[0]);
}

static void pieces_of_chain_follow_each_other(void **state)
{
    (void)state;
    open_graph(3, 1);
    for (int i = 0; i < 3; i++) {
        add_one(0, use(0, READS | WRITES));
    }
    assert_takes(30);
}

static void independent_pieces_share_equal_resources(void **state)
{
    (void)state;
    open_graph(5, 5);
    for (uint32_t i = 0; i < 4; i++) {
        add_one(0, use(i, READS | WRITES));
    }
    assert_takes(20);
    assert_int_equal(2, plan.pieces_on[0]);
    assert_int_equal(2, plan.pieces_on[1]);
    add_one(0, use(4, READS | WRITES));
    assert_takes(30);
}

/* Two write the same without reading; a reader in between; a writer waits for both readers. */
static void order_follows_from_uses(void **state)
{
    (void)state;
    open_graph(4, 3);
    add_one(0, use(0, WRITES));
    add_two(0, use(0, READS), use(1, WRITES));
    add_two(0, use(0, READS), use(2, WRITES));
    assert_takes(20);
    add_one(0, use(0, WRITES));
    assert_takes(30);
}

/* a; b and c, which read its result; d, which reads theirs. */
static void diamond_uses_both_resources_in_the_middle(void **state)
{
    (void)state;
    open_graph(4, 3);
    add_one(0, use(0, WRITES));
    add_two(0, use(0, READS), use(1, WRITES));
    add_two(0, use(0, READS), use(2, WRITES));
    const schedule_piece last = {.kind = 0, .use_count = 2, .uses = {use(1, READS), use(2, READS)}};
    assert_int_equal(SCHEDULE_OK, schedule_add(&graph, &last));
    assert_takes(30);
}

/* The device computes in 1 what takes the host 10, but the data have to get there and back. */
static void copies_count(void **state)
{
    (void)state;
    move_apart();
    machine.ns[0][1] = 1;
    open_graph(1, 1);
    graph.buffers[0] = (schedule_buffer){.bytes = 1, .is_result = true};
    add_one(0, use(0, READS | WRITES));
    assert_takes(10); /* 6 + 1 + 6 on the device */
    assert_int_equal(1, plan.pieces_on[0]);
    assert_true(plan.copied_bytes == 0);
    machine.ns[0][0] = 14;
    assert_takes(13);
    assert_int_equal(1, plan.pieces_on[1]);
    assert_true(plan.copied_bytes == 2);
}

static void copy_in_is_made_once(void **state)
{
    (void)state;
    move_apart();
    machine.ns[0][0] = INFINITY;
    machine.ns[0][1] = 1;
    open_graph(2, 3);
    graph.buffers[0].bytes = 95;
    add_two(0, use(0, READS), use(1, WRITES));
    add_two(0, use(0, READS), use(2, WRITES));
    assert_takes(102);
    assert_true(plan.copied_bytes == 95);
}

static void copies_on_one_link_follow_each_other(void **state)
{
    (void)state;
    move_apart();
    machine.ns[0][0] = INFINITY;
    machine.ns[0][1] = 1;
    open_graph(1, 2);
    graph.buffers[0].bytes = 5;
    graph.buffers[1].bytes = 15;
    add_two(0, use(0, READS), use(1, READS | WRITES));
    assert_takes(10 + 20 + 1);
}

static void discarding_write_copies_nothing_in(void **state)
{
    (void)state;
    move_apart();
    machine.ns[0][0] = INFINITY;
    open_graph(1, 1);
    graph.buffers[0] = (schedule_buffer){.bytes = 15, .is_result = true};
    add_one(0, use(0, WRITES));
    assert_takes(10 + 20);
}

/* A long chain first, though it was submitted last: 3 * 10, and the others beside it. */
static void long_way_comes_first(void **state)
{
    (void)state;
    open_graph(6, 4);
    for (uint32_t i = 0; i < 3; i++) {
        add_one(0, use(i, READS | WRITES));
    }
    for (int i = 0; i < 3; i++) {
        add_one(0, use(3, READS | WRITES));
    }
    assert_takes(30);
}

/* The chain leaves a gap of 20 on the first resource while its middle is on the second. */
static void short_piece_fills_gap(void **state)
{
    (void)state;
    machine.kind_count = 3;
    machine.ns[1][0] = INFINITY; /* only on the second */
    machine.ns[1][1] = 20;
    machine.ns[2][0] = 5; /* only on the first */
    machine.ns[2][1] = INFINITY;
    machine.ns[0][1] = INFINITY;
    open_graph(4, 2);
    add_one(0, use(0, READS | WRITES));
    add_one(1, use(0, READS | WRITES));
    add_one(0, use(0, READS | WRITES));
    add_one(2, use(1, READS | WRITES));
    assert_takes(40);
}

static void kind_runs_where_it_can(void **state)
{
    (void)state;
    machine.ns[0][0] = INFINITY;
    open_graph(2, 2);
    add_one(0, use(0, WRITES));
    add_one(0, use(1, WRITES));
    assert_takes(20);
    assert_int_equal(2, plan.pieces_on[1]);
    machine.ns[0][1] = INFINITY;
    assert_int_equal(SCHEDULE_INVALID, schedule_make(&graph, &machine, &plan));
}

/* Greedy: the first piece ends first on the device, the second one has to follow it there. */
static void single_resource_is_taken_where_it_is_better(void **state)
{
    (void)state;
    move_apart();
    machine.kind_count = 2;
    machine.ns[0][1] = 9;
    machine.ns[1][0] = 10;
    machine.ns[1][1] = 100;
    open_graph(2, 1);
    graph.buffers[0].bytes = 45;
    add_one(0, use(0, WRITES));
    add_one(1, use(0, READS | WRITES));
    assert_takes(20);
    assert_int_equal(2, plan.pieces_on[0]);
}

static void pieces_begin_when_they_are_submitted(void **state)
{
    (void)state;
    machine.submit_ns = 7;
    open_graph(2, 2);
    add_one(0, use(0, WRITES));
    add_one(0, use(1, WRITES));
    assert_takes(17);
}

static void share_processors(size_t count, uint32_t of_first, uint32_t of_second)
{
    machine.processor_count = count;
    machine.processors[0] = of_first;
    machine.processors[1] = of_second;
}

static void add_independent(uint32_t count)
{
    open_graph(count, count);
    for (uint32_t i = 0; i < count; i++) {
        add_one(0, use(i, WRITES));
    }
}

static void resources_on_one_processor_take_turns(void **state)
{
    (void)state;
    add_independent(4);
    share_processors(1, 1, 1);
    assert_takes(40);
    share_processors(2, 1, 1);
    assert_takes(20);
    share_processors(1, 1, 0); /* the second one is apart from the host */
    assert_takes(20);
}

/* The second resource takes 9 on both processors, 18 on one while the first one uses the other. */
static void what_runs_on_all_processors_runs_on_one_for_longer(void **state)
{
    (void)state;
    machine.ns[0][0] = 8;
    machine.ns[0][1] = 9;
    add_independent(3);
    share_processors(2, 1, 2);
    assert_takes(18);
    assert_int_equal(2, plan.pieces_on[0]);
    machine.ns[0][1] = 3; /* two at once would take 6 each */
    assert_takes(9);
    assert_int_equal(3, plan.pieces_on[1]);
}

/* A resource that needs both processors, which are free from 4 to 6 and from 10 on, is busy itself
 * from 5 to 15 later. */
static void processors_are_free_together(void **state)
{
    static processors host;
    timeline own = {0};
    (void)state;
    processors_clear(&host, 2);
    assert_true(processors_take(&host, 1, 0, 4));
    assert_true(processors_take(&host, 1, 0, 2));
    assert_true(processors_take(&host, 1, 6, 10));
    assert_true(processors_fit(&host, &own, 2, 0, 2) == 4);
    assert_true(processors_fit(&host, &own, 2, 0, 3) == 10);
    assert_true(processors_fit(&host, &own, 1, 0, 3) == 2);
    assert_true(timeline_take(&own, 5, 15));
    assert_true(processors_fit(&host, &own, 2, 0, 1) == 4);
    assert_true(processors_fit(&host, &own, 2, 0, 2) == 15);
    assert_true(processors_fit(&host, &own, 0, 0, 5) == 0);
    timeline_free(&own);
    processors_free(&host);
}

static void more_pieces_than_room_are_refused(void **state)
{
    const schedule_piece piece = {.use_count = 0};
    const schedule_piece much = {.use_count = SCHEDULE_MOST_USES + 1};
    (void)state;
    open_graph(1, 0);
    assert_int_equal(SCHEDULE_FULL, schedule_add(&graph, &much));
    assert_int_equal(SCHEDULE_OK, schedule_add(&graph, &piece));
    assert_int_equal(SCHEDULE_FULL, schedule_add(&graph, &piece));
    assert_takes(10);
}

static void wrong_numbers_are_refused(void **state)
{
    const schedule_piece piece = {.use_count = 1, .uses = {{.buffer = 1, .reads = true}}};
    (void)state;
    open_graph(1, 1);
    assert_int_equal(SCHEDULE_INVALID, schedule_add(&graph, &piece));
    add_one(1, use(0, READS));
    assert_int_equal(SCHEDULE_INVALID, schedule_make(&graph, &machine, &plan));
    machine.kind_count = 2;
    share_processors(1, 1, 2);
    assert_int_equal(SCHEDULE_INVALID, schedule_make(&graph, &machine, &plan));
    share_processors(SCHEDULE_MOST_PROCESSORS + 1, 1, 2);
    assert_int_equal(SCHEDULE_INVALID, schedule_make(&graph, &machine, &plan));
    share_processors(2, 1, 2);
    machine.domain_of[1] = 1;
    assert_int_equal(SCHEDULE_INVALID, schedule_make(&graph, &machine, &plan));
    machine.resource_count = 0;
    assert_int_equal(SCHEDULE_INVALID, schedule_make(&graph, &machine, &plan));
}

/* More spans than a timeline has room for at first. */
static void long_chain_is_held(void **state)
{
    enum { LENGTH = 1000 };
    (void)state;
    open_graph(LENGTH, 1);
    for (int i = 0; i < LENGTH; i++) {
        add_one(0, use(0, READS | WRITES));
    }
    assert_takes(10.0 * LENGTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(empty_graph_takes_no_time),
        TEST(pieces_of_chain_follow_each_other),
        TEST(independent_pieces_share_equal_resources),
        TEST(order_follows_from_uses),
        TEST(diamond_uses_both_resources_in_the_middle),
        TEST(copies_count),
        TEST(copy_in_is_made_once),
        TEST(copies_on_one_link_follow_each_other),
        TEST(discarding_write_copies_nothing_in),
        TEST(long_way_comes_first),
        TEST(short_piece_fills_gap),
        TEST(kind_runs_where_it_can),
        TEST(single_resource_is_taken_where_it_is_better),
        TEST(pieces_begin_when_they_are_submitted),
        TEST(resources_on_one_processor_take_turns),
        TEST(what_runs_on_all_processors_runs_on_one_for_longer),
        TEST(processors_are_free_together),
        TEST(more_pieces_than_room_are_refused),
        TEST(wrong_numbers_are_refused),
        TEST(long_chain_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
