/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that share the host's memory: nothing is copied, and no reader accesses memory that
 * belongs to another. */
#include "data/pair.h"

static void shared_memory_copies_nothing(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    run_on(0, add_to(a, 1));
    run_on(0, add_to(a, 1));
    see_buffer(a, 2, 1);
    run_on(0, copy_to(b, a)); /* both read: the host keeps it */
    see_buffer(a, 2, 1);
    run_on(0, add_to(a, 1));
    run_on(HOST, add_to(a, 1));
    write_buffer(b, 7, 0);
    run_on(0, add_to(a, 1));
    run_on(0, add_to(b, 1));
    see_buffer(b, 8, 0);
    assert_moved(a, 0, 0, 8);
    assert_moved(b, 0, 0, 4);
    assert_int_equal(3, sim.counts.brought); /* handed over, with no byte moved */
    assert_int_equal(4, sim.counts.fetched);
    see_buffer(b, 8, 0);
    run_on(HOST, add_to(b, 1)); /* more than it may now */
    assert_int_equal(5, sim.counts.fetched);
    finish_with(5, 1);
    assert_int_equal(0, sim.counts.bytes_in + sim.counts.bytes_out);
}

static void host_and_sharing_device_read_concurrently(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    run_on(0, add_to(a, 1));
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
    run_on(0, copy_to(b, a));
    assert_int_equal(1, ((const int32_t *)seen.data)[0]);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    assert_int_equal(0, sim.counts.brought);
    assert_int_equal(1, sim.counts.fetched);
    finish_with(1, 1);
    assert_int_equal(ELEMENTS, others[ELEMENTS - 1]);
}

/* The memory cannot become the device's now, and nobody has to close anything. */
static void device_copies_in_while_host_accessor_holds_memory(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    run_on(0, add_to(b, 0));
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
    run_on(0, copy_to(b, a));
    assert_int_equal(1, ((const int32_t *)seen.data)[1]);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    assert_moved(a, 1, 0, 1);
    see_buffer(b, 0, 1);
    finish_with(0, 1);
}

/* It waits for what is still being brought elsewhere, and moves nothing. */
static void sharing_device_gets_memory_after_copy_in_elsewhere(void **state)
{
    (void)state;
    static int32_t more[ELEMENTS];
    dynsel_buffer c = new_buffer(more);
    sim.devices[0].shares = true;
    run_on(0, add_to(b, 0)); /* so that it is known */
    sim.devices[1].pace = SIMULATED_BY_HAND;
    dynsel_submission first;
    dynsel_submission second;
    send_to(1, copy_to(c, a), &first);
    send_to(0, copy_to(b, a), &second);
    assert_int_equal(2, sim.counts.launched);
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait(&second));
    assert_status(DYNSEL_OK, dynsel_wait(&first));
    assert_moved(a, 1, 0, 1);
    end_buffer(&c, more, 0, 1);
    finish_with(0, 1);
}

static void writes_elsewhere_reach_sharing_device(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    sim.devices[1].shares = true; /* but the memory is shared by one only */
    run_on(0, add_to(a, 1));
    run_on(1, add_to(a, 1)); /* the host takes it, and it is brought */
    assert_moved(a, 1, 0, 1);
    run_on(0, add_to(a, 1)); /* taken from the one, and handed over to the other */
    assert_moved(a, 1, 1, 2);
    run_on(1, add_to(a, 1));
    run_on(HOST, add_to(a, 1));
    assert_moved(a, 2, 2, 2);
    run_on(0, add_to(a, 1));
    run_on(1, set_all(a, 3));
    run_on(0, add_to(a, 1));
    assert_moved(a, 2, 3, 5);
    run_on(1, set_all(a, 3));
    finish_with(3, 1);
    assert_int_equal(2 * BYTES, sim.counts.bytes_in);
    assert_int_equal(4 * BYTES, sim.counts.bytes_out);
}

/* The host reads what it wrote, in memory that the device has to get before it can read it too. */
static void sharing_device_waits_for_host_reader(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    run_on(0, add_to(a, 1));
    write_buffer(a, 4, 2);
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
    dynsel_submission submission;
    send_to(0, copy_to(b, a), &submission);
    dynsel_progress();
    assert_int_equal(6, ((const int32_t *)seen.data)[1]);
    assert_int_equal(1, sim.counts.launched);
    assert_status(DYNSEL_E_BUSY, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    see_buffer(b, 4, 2);
    finish_with(4, 2);
}

static void shared_copy_is_preferred_as_source(void **state)
{
    (void)state;
    for (unsigned sharer = 0; sharer < 2; sharer++) {
        const dynsel_buffer from = sharer == 0 ? a : b;
        sim.devices[sharer].shares = true;
        sim.devices[1 - sharer].shares = false;
        const job look = {.kind = FAIL, .buffers = {from}, .modes = {DYNSEL_ACCESS_READ}};
        run_on(sharer, look);
        run_on(1 - sharer, add_to(from, 1));
        run_on(sharer, look); /* handed over: valid on both, and not on the host */
        assert_moved(from, 1, 1, 2);
        see_buffer(from, 1, sharer == 0 ? 1 : -1);
        assert_moved(from, 1, 1, 3);
    }
    finish_with(1, 1);
}

static void memory_allocated_as_shared_belongs_to_device(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    run_on(0, copy_to(b, a));
    assert_moved(b, 0, 0, 1);
    run_on(1, add_to(a, 1));
    assert_int_equal(1, sim.counts.fetched);
    assert_moved(a, 1, 0, 1);
    see_buffer(b, 0, 1);
    finish_with(1, 1);
}

/* What is brought elsewhere is still being read. */
static void shared_memory_goes_to_device_after_copy_in_elsewhere(void **state)
{
    (void)state;
    static int32_t more[ELEMENTS];
    dynsel_buffer c = new_buffer(more);
    sim.devices[0].shares = true;
    run_on(0, add_to(a, 1));
    write_buffer(a, 3, 3);
    sim.devices[1].pace = SIMULATED_BY_HAND;
    dynsel_submission first;
    dynsel_submission second;
    send_to(1, copy_to(b, a), &first);
    send_to(0, copy_to(c, a), &second);
    assert_int_equal(2, sim.counts.launched);
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait(&second));
    assert_status(DYNSEL_OK, dynsel_wait(&first));
    see_buffer(b, 3, 3);
    end_buffer(&c, more, 3, 3);
    finish_with(3, 3);
}

static void lost_shared_memory_is_allocated_again(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    sim.devices[1].shares = true;
    run_on(0, add_to(a, 1));
    sim.failures_are_losses = true;
    simulated_fail(&sim, SIMULATED_FETCH, 1, false, DYNSEL_E_DEVICE);
    const job look = {.kind = FAIL, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ}};
    assert_status(DYNSEL_E_DEVICE, run_job(HOST, &look));
    run_on(HOST, set_all(a, 5)); /* it is the host's again */
    assert_int_equal(0, sim.counts.fetched);
    run_on(1, add_to(a, 1));
    assert_moved(a, 1, 0, 2);
    assert_int_equal(0, sim.counts.released);
    run_on(0, set_all(a, 7));
    assert_int_equal(1, sim.counts.released);
    assert_int_equal(3, sim.counts.allocated);
    run_on(0, add_to(a, 1));
    run_on(HOST, add_to(a, 1));
    assert_moved(a, 1, 0, 5);
    finish_with(9, 1);
}

/* Nobody knows yet whether a device shares the host's memory, while that is allocated there. */

static const dynsel_backend_ops *plain_ops;
static dynsel_submission nested;

static unsigned nested_place;

static dynsel_status submit_and_allocate(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    if (own == &sim.devices[0]) {
        send_to(nested_place, copy_to(b, a), &nested);
        assert_int_equal(0, sim.counts.allocated);
    }
    return plain_ops->memory->allocate(backend, own, memory);
}

/* Reads a on device 0, and in the midst of that copies it elsewhere. */
static void read_and_copy_on(unsigned place)
{
    static dynsel_backend_ops ops;
    static dynsel_memory_ops memory;
    plain_ops = sim.backend.ops;
    ops = *plain_ops;
    memory = *plain_ops->memory;
    memory.allocate = submit_and_allocate;
    ops.memory = &memory;
    sim.backend.ops = &ops;
    nested_place = place;
    run_on(0, (job){.kind = FAIL, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ}});
    sim.backend.ops = plain_ops;
    assert_status(DYNSEL_OK, dynsel_wait(&nested));
}

static void copy_in_waits_for_device_that_may_share(void **state)
{
    (void)state;
    sim.devices[1].shares = true; /* but 0 does not */
    read_and_copy_on(1);
    assert_moved(a, 1, 0, 1);
    finish_with(0, 1);
    assert_int_equal(ELEMENTS - 1, others[ELEMENTS - 1]);
}

static void host_reclaims_memory_given_to_device_meanwhile(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    read_and_copy_on(HOST);
    assert_int_equal(1, sim.counts.fetched);
    assert_moved(a, 0, 0, 2);
    finish_with(0, 1);
    assert_int_equal(ELEMENTS - 1, others[ELEMENTS - 1]);
}

/* Device 1 has memory for it already, and only the data have to be brought. */
static void copy_in_waits_while_device_takes_shared_memory(void **state)
{
    (void)state;
    run_on(1, add_to(a, 0));
    sim.devices[0].shares = true;
    write_buffer(a, 0, 1);
    const unsigned allocated = sim.counts.allocated;
    sim.counts.allocated = 0;
    read_and_copy_on(1);
    sim.counts.allocated += allocated;
    assert_int_equal(1, sim.counts.fetched); /* from device 0 */
    finish_with(0, 1);
    assert_int_equal(ELEMENTS - 1, others[ELEMENTS - 1]);
}

int main(void)
{
#define EACH(test) TEST_SET_UP(test), cmocka_unit_test_setup(test, set_up_with_waits)
    const struct CMUnitTest tests[] = {
        EACH(shared_memory_copies_nothing),
        EACH(host_and_sharing_device_read_concurrently),
        EACH(device_copies_in_while_host_accessor_holds_memory),
        EACH(sharing_device_gets_memory_after_copy_in_elsewhere),
        EACH(writes_elsewhere_reach_sharing_device),
        EACH(sharing_device_waits_for_host_reader),
        EACH(shared_copy_is_preferred_as_source),
        EACH(memory_allocated_as_shared_belongs_to_device),
        EACH(shared_memory_goes_to_device_after_copy_in_elsewhere),
        EACH(lost_shared_memory_is_allocated_again),
        EACH(copy_in_waits_for_device_that_may_share),
        EACH(host_reclaims_memory_given_to_device_meanwhile),
        EACH(copy_in_waits_while_device_takes_shared_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
