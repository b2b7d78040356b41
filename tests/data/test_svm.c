/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory out of pools, on the host and on simulated devices: blocks, mistakes, failures of
 * drivers, and who takes a pointer in which state. */
#include <string.h>

#include <dynsel/dynsel.h>
#include <dynsel/memory.h>

#include "fakes/simulated_memory.h"
#include "random.h"
#include "test.h"

#if CONFIG_DYNSEL_CONTEXT_THREADS
#include <pthread.h>
#endif

enum {
    A,
    B,
    DEVICES,
    ROUNDS = 4000,
    THREADS = 4,
    BLOCKS = CONFIG_DYNSEL_SVM_BLOCKS,
    POOL = CONFIG_DYNSEL_SVM_POOL_BYTES,
    HOST_BYTES = CONFIG_DYNSEL_SVM_HOST_BYTES
};

static simulated_backend sim;
static dynsel_backend_ops backend_ops;
static dynsel_memory_ops memory_ops;
static dynsel_resource device[DEVICES];
static const dynsel_resource host = {&dynsel_inline_backend, NULL};

/* What the devices' driver does: a pool for each domain. */
static struct {
    _Alignas(128) unsigned char pools[DEVICES][POOL];
    bool taken[DEVICES];
    void *mapped; /* one part at a time */
    dynsel_access_mode mode;
    unsigned takes, maps, unmaps;
    dynsel_status failure; /* of the next that can fail; DYNSEL_OK: none */
    uint32_t domain;       /* not 0: of all devices */
    bool meddles;          /* somebody else tries to have the part meanwhile */
} driver;

static dynsel_status result(void)
{
    const dynsel_status status = driver.failure;
    driver.failure = DYNSEL_OK;
    return status;
}

static size_t number_of(const void *own)
{
    return (size_t)((const simulated_device *)own - sim.devices);
}

static dynsel_status take(dynsel_backend *backend, void *own, size_t bytes, void **memory)
{
    const size_t number = number_of(own);
    const dynsel_status status = result();
    (void)backend;
    assert_int_equal(POOL, bytes);
    if (status == DYNSEL_OK) {
        assert_false(driver.taken[number] && driver.domain == 0);
        driver.taken[number] = true;
        driver.takes++;
        *memory = driver.pools[number];
    }
    return status;
}

static void give_back(dynsel_backend *backend, void *own, void *memory)
{
    (void)backend;
    assert_true(driver.taken[number_of(own)]);
    assert_ptr_equal(driver.pools[number_of(own)], memory);
    driver.taken[number_of(own)] = false;
}

static void meddle(void *part)
{
    if (driver.meddles) {
        assert_status(DYNSEL_E_BUSY, dynsel_svm_free(part));
        assert_status(DYNSEL_E_BUSY, dynsel_svm_map(part, DYNSEL_ACCESS_READ));
        assert_status(DYNSEL_E_BUSY, dynsel_svm_unmap(part));
    }
}

static dynsel_status map(dynsel_backend *backend, void *own, void *part, size_t bytes,
                         dynsel_access_mode mode)
{
    const dynsel_status status = result();
    (void)backend;
    (void)bytes;
    assert_true(driver.taken[number_of(own)]);
    assert_null(driver.mapped);
    meddle(part);
    if (status == DYNSEL_OK) {
        driver.maps++;
        driver.mapped = part;
        driver.mode = mode;
    }
    return status;
}

static dynsel_status unmap(dynsel_backend *backend, void *own, void *part)
{
    const dynsel_status status = result();
    (void)backend;
    assert_true(driver.taken[number_of(own)]);
    assert_ptr_equal(driver.mapped, part);
    meddle(part);
    if (status == DYNSEL_OK) {
        driver.unmaps++;
        driver.mapped = NULL;
    }
    return status;
}

static dynsel_domain domain(dynsel_backend *backend, void *own)
{
    return (dynsel_domain){.number =
                               driver.domain != 0 ? driver.domain : (uint32_t)number_of(own) + 1,
                           .in_order = backend != NULL};
}

static int set_up(void **state)
{
    (void)state;
    simulated_reset(&sim, 1, false);
    backend_ops = *sim.backend.ops;
    memory_ops = *backend_ops.memory;
    memory_ops.take_shared = take;
    memory_ops.return_shared = give_back;
    memory_ops.map_shared = map;
    memory_ops.unmap_shared = unmap;
    memory_ops.domain = domain;
    backend_ops.memory = &memory_ops;
    sim.backend.ops = &backend_ops;
    for (unsigned i = 0; i < DEVICES; i++) {
        device[i] = simulated_resource(&sim, i);
        sim.devices[i].sharing = DYNSEL_SHARES_MAPPED;
        driver.taken[i] = false;
    }
    driver.mapped = NULL;
    driver.takes = driver.maps = driver.unmaps = 0;
    driver.failure = DYNSEL_OK;
    driver.domain = 0;
    driver.meddles = false;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DEVICES; i++) {
        assert_false(driver.taken[i]); /* no block is left */
    }
    assert_null(driver.mapped);
    simulated_assert_clean(&sim, true);
    return 0;
}

static void assert_says(const char *text)
{
    if (CONFIG_DYNSEL_ERROR_TEXTS && strstr(dynsel_last_error()->detail, text) == NULL) {
        assert_string_equal(text, dynsel_last_error()->detail);
    }
}

static void *block(const dynsel_resource *where, size_t bytes)
{
    void *memory = NULL;
    assert_status(DYNSEL_OK, dynsel_svm_alloc(where, bytes, 0, &memory));
    assert_non_null(memory);
    return memory;
}

static void wrong_svm_calls_are_refused(void **state)
{
    const dynsel_resource nothing = {NULL, NULL};
    void *memory = &memory;
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_svm_alloc(NULL, 8, 0, &memory));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_alloc(&nothing, 8, 0, &memory));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_alloc(&host, 8, 0, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_alloc(&host, 0, 0, &memory));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_alloc(&host, 8, 24, &memory));
    sim.devices[A].sharing = DYNSEL_SHARES_NOTHING;
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_svm_alloc(&device[A], 8, 0, &memory));
    assert_says("use a buffer");
    assert_ptr_equal(&memory, memory);
    assert_status(DYNSEL_E_INVALID, dynsel_svm_free(NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_free(&memory));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_map(NULL, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_unmap(&memory));
    assert_int_equal(0, driver.takes);
}

static void freed_or_inner_svm_pointer_is_refused(void **state)
{
    unsigned char *const memory = block(&host, 64);
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_svm_free(memory + 1));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_map(memory + 1, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_free(memory));
    assert_says("no block begins there");
}

static void check_turns(const dynsel_resource *where)
{
    void *const memory = block(where, 64);
    assert_status(DYNSEL_E_INVALID, dynsel_svm_unmap(memory));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_map(memory, DYNSEL_ACCESS_ATOMIC));
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_DISCARD_WRITE));
    assert_status(DYNSEL_E_BUSY, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    assert_says("dynsel_svm_unmap() first");
    assert_status(DYNSEL_OK, dynsel_svm_unmap(memory));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_unmap(memory));
    assert_says("dynsel_svm_map() first");
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
}

static void svm_map_and_unmap_must_alternate(void **state)
{
    (void)state;
    check_turns(&host);
    assert_int_equal(0, driver.maps);
    check_turns(&device[A]);
    assert_int_equal(2, driver.maps);
    assert_int_equal(2, driver.unmaps);
    assert_int_equal(DYNSEL_ACCESS_READ, driver.mode);
    sim.devices[A].sharing = DYNSEL_SHARES_ALLOCATED;
    check_turns(&device[A]);
    assert_int_equal(2, driver.maps);
}

typedef struct piece {
    unsigned char *memory;
    size_t bytes;
    unsigned char mark;
} piece;

static void check_piece(const piece *p)
{
    for (size_t i = 0; i < p->bytes; i++) {
        assert_int_equal(p->mark, p->memory[i]);
    }
}

static void free_piece(piece *p)
{
    check_piece(p);
    assert_status(DYNSEL_OK, dynsel_svm_free(p->memory));
    p->memory = NULL;
}

static void take_piece(piece *p, test_random *random)
{
    const size_t alignment = (size_t)1 << test_random_below(random, 9);
    p->bytes = 1 + test_random_below(random, HOST_BYTES / 8);
    p->mark = (unsigned char)test_random_below(random, 256);
    void *memory = NULL;
    const dynsel_status status = dynsel_svm_alloc(&host, p->bytes, alignment, &memory);
    if (status == DYNSEL_OK) {
        assert_int_equal(0, (uintptr_t)memory % alignment);
        p->memory = memory;
        memset(memory, p->mark, p->bytes);
    } else {
        assert_status(DYNSEL_E_FULL, status);
    }
}

static void svm_blocks_are_aligned_and_disjoint(void **state)
{
    static piece pieces[BLOCKS];
    test_random random = {test_seed()};
    (void)state;
    memset(pieces, 0, sizeof pieces);
    for (unsigned i = 0; i < ROUNDS; i++) {
        piece *const p = &pieces[test_random_below(&random, BLOCKS)];
        if (p->memory != NULL) {
            free_piece(p);
        } else {
            take_piece(p, &random);
        }
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (pieces[i].memory != NULL) {
            free_piece(&pieces[i]);
        }
    }
    /* nothing was lost */
    void *memory = NULL;
    assert_status(DYNSEL_OK, dynsel_svm_alloc(&host, HOST_BYTES, 1, &memory));
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
}

static void full_svm_pool_error_names_its_option(void **state)
{
    void *blocks[BLOCKS];
    void *memory = NULL;
    (void)state;
    assert_status(DYNSEL_E_FULL, dynsel_svm_alloc(&host, HOST_BYTES + 1, 0, &memory));
    assert_says("CONFIG_DYNSEL_SVM_HOST_BYTES");
    assert_status(DYNSEL_E_FULL, dynsel_svm_alloc(&host, SIZE_MAX, 0, &memory));
    assert_status(DYNSEL_E_FULL, dynsel_svm_alloc(&host, 1, SIZE_MAX / 2 + 1, &memory));
    assert_status(DYNSEL_E_FULL, dynsel_svm_alloc(&device[A], (size_t)POOL + 1, 0, &memory));
    assert_says("CONFIG_DYNSEL_SVM_POOL_BYTES");
    assert_false(driver.taken[A]);
    for (unsigned i = 0; i < BLOCKS; i++) {
        assert_status(DYNSEL_OK, dynsel_svm_alloc(&device[i % DEVICES], 1, 1, &blocks[i]));
    }
    assert_status(DYNSEL_E_FULL, dynsel_svm_alloc(&host, 1, 1, &memory));
    assert_says("CONFIG_DYNSEL_SVM_BLOCKS");
    assert_null(memory);
    for (unsigned i = 0; i < BLOCKS; i++) {
        assert_status(DYNSEL_OK, dynsel_svm_free(blocks[i]));
    }
}

static void full_svm_pool_table_is_refused(void **state)
{
    void *blocks[CONFIG_DYNSEL_MAX_DOMAINS];
    void *memory = NULL;
    (void)state;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_DOMAINS; i++) {
        driver.domain = i + 1; /* the driver gives the same memory for all: it is not used */
        blocks[i] = block(&device[A], 8);
    }
    driver.domain = CONFIG_DYNSEL_MAX_DOMAINS + 1;
    assert_status(DYNSEL_E_FULL, dynsel_svm_alloc(&device[A], 8, 0, &memory));
    assert_says("CONFIG_DYNSEL_MAX_DOMAINS");
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_DOMAINS; i++) {
        driver.taken[A] = true;
        assert_status(DYNSEL_OK, dynsel_svm_free(blocks[i]));
    }
}

static void driver_failure_leaves_svm_block_unchanged(void **state)
{
    void *memory = NULL;
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_svm_free(NULL)); /* the thread's last error */
    driver.failure = DYNSEL_E_DEVICE;
    assert_status(DYNSEL_E_DEVICE, dynsel_svm_alloc(&device[A], 8, 0, &memory));
    assert_null(memory);
    assert_status(DYNSEL_E_DEVICE, dynsel_last_error()->status);
    memory = block(&device[A], 8);
    driver.failure = DYNSEL_E_DEVICE;
    assert_status(DYNSEL_E_DEVICE, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_E_INVALID, dynsel_svm_unmap(memory));
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    driver.failure = DYNSEL_E_DEVICE;
    assert_status(DYNSEL_E_DEVICE, dynsel_svm_unmap(memory));
    assert_status(DYNSEL_E_BUSY, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    driver.failure = DYNSEL_E_DEVICE;
    assert_status(DYNSEL_OK, dynsel_svm_free(memory)); /* whatever the device says */
    driver.mapped = NULL;
}

/* Work with a pointer. */

static dynsel_round_robin_policy policy;
static const dynsel_resource *last;

static dynsel_status note_where(const dynsel_launch *launch)
{
    last = launch->where;
    return DYNSEL_OK;
}

static const dynsel_kernel kernel = {.name = "note", .function = note_where};

static dynsel_status use_it(dynsel_handler *handler, void *args)
{
    const int first = 1;
    (void)dynsel_set_arg_value(handler, 0, &first, sizeof first);
    (void)dynsel_set_arg_pointer(handler, 1, args);
    return dynsel_single_task(handler, &kernel);
}

static void begin_with(const dynsel_resource *resources, size_t count)
{
    const dynsel_options options = {.resources = resources, .count = count};
    policy = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
}

static void end(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static dynsel_status run(void *pointer)
{
    return dynsel_submit_command_group_and_wait(&policy.policy, use_it, pointer);
}

static void mapping_decides_which_resource_takes_svm_pointer(void **state)
{
    const dynsel_resource both[] = {device[A], host};
    unsigned char *const memory = block(&device[A], 64);
    (void)state;
    begin_with(both, 2);
    for (unsigned i = 0; i < 4; i++) {
        assert_status(DYNSEL_OK, run(memory + 63));
        assert_ptr_equal(&sim.backend, last->backend);
    }
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_READ_WRITE));
    for (unsigned i = 0; i < 4; i++) {
        assert_status(DYNSEL_OK, run(memory));
        assert_ptr_equal(host.backend, last->backend);
    }
    end();
    begin_with(&device[A], 1);
    assert_status(DYNSEL_E_BUSY, run(memory));
    assert_says("dynsel_svm_unmap() before");
    assert_int_equal(1, dynsel_last_error()->number);
    assert_status(DYNSEL_OK, dynsel_svm_unmap(memory));
    assert_status(DYNSEL_OK, run(memory));
    end();
    begin_with(&host, 1);
    assert_status(DYNSEL_E_BUSY, run(memory));
    assert_says("dynsel_svm_map() before");
    end();
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
}

static void fine_grain_svm_pointer_is_taken_mapped_or_not(void **state)
{
    const dynsel_resource both[] = {device[A], host};
    unsigned hosts = 0;
    (void)state;
    sim.devices[A].sharing = DYNSEL_SHARES_ALLOCATED;
    unsigned char *const memory = block(&device[A], 64);
    begin_with(both, 2);
    for (unsigned i = 0; i < 8; i++) {
        if (i == 4) {
            assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_READ_WRITE));
        }
        assert_status(DYNSEL_OK, run(memory));
        hosts += last->backend == host.backend;
    }
    assert_int_equal(4, hosts);
    end();
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
}

static void svm_pointer_of_other_domain_is_refused(void **state)
{
    unsigned char *const memory = block(&device[A], 64);
    (void)state;
    begin_with(&device[B], 1);
    assert_status(DYNSEL_E_UNSUPPORTED, run(memory));
    assert_says("another memory domain");
    sim.devices[B].sharing = DYNSEL_SHARES_NOTHING;
    assert_status(DYNSEL_E_UNSUPPORTED, run(memory));
    assert_says("shares none");
    assert_int_equal(1, dynsel_last_error()->number);
    sim.devices[B].sharing = DYNSEL_SHARES_ALL; /* but it has to be there */
    assert_status(DYNSEL_E_BUSY, run(memory));
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_READ_WRITE));
    assert_status(DYNSEL_OK, run(memory));
    sim.devices[B].sharing = DYNSEL_SHARES_MAPPED;
    assert_status(DYNSEL_E_INVALID, run(memory + 64)); /* just behind it */
    assert_says("dynsel_svm_alloc()");
    end();
    assert_int_equal(1, sim.counts.launched);
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
}

/* Whichever comes first in the policy, the error is about the one that is nearest to taking it. */
static void svm_error_describes_closest_resource(void **state)
{
    const dynsel_resource orders[2][2] = {{device[A], device[B]}, {device[B], device[A]}};
    unsigned char *const memory = block(&device[A], 64);
    (void)state;
    sim.devices[B].sharing = DYNSEL_SHARES_NOTHING;
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_READ_WRITE));
    for (unsigned i = 0; i < 2; i++) {
        begin_with(orders[i], 2);
        assert_status(DYNSEL_E_BUSY, run(memory));
        assert_says("mapped for the host");
        end();
    }
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
}

/* What one pointer cannot go to is no matter for the next. */
static void resource_excluded_once_is_considered_again(void **state)
{
    void *pointers[DEVICES];
    (void)state;
    for (unsigned i = 0; i < DEVICES; i++) {
        pointers[i] = block(&device[i], 64);
    }
    begin_with(device, DEVICES);
    for (unsigned i = 0; i < 4 * DEVICES; i++) {
        assert_status(DYNSEL_OK, run(pointers[i % DEVICES]));
        assert_ptr_equal(device[i % DEVICES].handle, last->handle);
    }
    end();
    for (unsigned i = 0; i < DEVICES; i++) {
        assert_status(DYNSEL_OK, dynsel_svm_free(pointers[i]));
    }
}

static void svm_free_and_map_during_use_are_busy(void **state)
{
    dynsel_submission submission;
    unsigned char *const memory = block(&device[A], 64);
    (void)state;
    sim.devices[A].pace = SIMULATED_BY_HAND;
    begin_with(&device[A], 1);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, use_it, memory + 8, &submission));
    assert_status(DYNSEL_E_BUSY, dynsel_svm_free(memory));
    assert_says("wait for that first");
    assert_status(DYNSEL_E_BUSY, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    simulated_finish(&sim);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
    end();
}

/* Nobody has waited for it, or looked. */
static void svm_map_polls_completed_work(void **state)
{
    dynsel_submission submission;
    unsigned char *const memory = block(&device[A], 64);
    (void)state;
    sim.devices[A].pace = SIMULATED_BY_HAND;
    begin_with(&device[A], 1);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, use_it, memory, &submission));
    simulated_finish(&sim);
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    end();
}

static void concurrent_svm_map_and_unmap_are_refused(void **state)
{
    unsigned char *const memory = block(&device[A], 64);
    (void)state;
    driver.meddles = true;
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_svm_unmap(memory));
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_WRITE));
    assert_status(DYNSEL_OK, dynsel_svm_free(memory)); /* unmaps it */
}

/* Whether it could not be started or failed later. */
static void failed_work_does_not_hold_svm_block(void **state)
{
    unsigned char *const memory = block(&device[A], 64);
    (void)state;
    begin_with(&device[A], 1);
    simulated_fail(&sim, SIMULATED_LAUNCH, 1, false, DYNSEL_E_TASK);
    assert_status(DYNSEL_E_TASK, run(memory));
    simulated_fail(&sim, SIMULATED_LAUNCH, 1, true, DYNSEL_E_TASK);
    assert_status(DYNSEL_E_TASK, run(memory));
    end();
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
}

static dynsel_status map_inside(const dynsel_launch *launch)
{
    assert_status(DYNSEL_E_IN_TASK,
                  dynsel_svm_map(dynsel_launch_data(launch, 1), DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_E_IN_TASK, dynsel_svm_unmap(dynsel_launch_data(launch, 1)));
    void *const memory = block(&host, 16);
    return dynsel_svm_free(memory);
}

static dynsel_status use_inside(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel mapping = {.name = "map", .function = map_inside};
    const int first = 1;
    (void)dynsel_set_arg_value(handler, 0, &first, sizeof first);
    (void)dynsel_set_arg_pointer(handler, 1, args);
    return dynsel_single_task(handler, &mapping);
}

static void svm_map_in_task_function_is_refused(void **state)
{
    void *const memory = block(&host, 64);
    (void)state;
    begin_with(&host, 1);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&policy.policy, use_inside, memory));
    end();
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
static dynsel_status do_nothing(const dynsel_launch *launch)
{
    return dynsel_launch_data(launch, 0) != NULL ? DYNSEL_OK : DYNSEL_E_TASK;
}

static dynsel_status use_quietly(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel nothing = {.name = "nothing", .function = do_nothing};
    (void)dynsel_set_arg_pointer(handler, 0, args);
    return dynsel_single_task(handler, &nothing);
}

typedef struct worker {
    pthread_t thread;
    test_random random;
    unsigned taken;
    unsigned failures;
} worker;

static void *take_and_give_back(void *args)
{
    worker *const self = args;
    for (unsigned i = 0; i < ROUNDS / 4; i++) {
        const dynsel_resource *const where = i % 2 == 0 ? &host : &device[i / 2 % DEVICES];
        const size_t bytes = 1 + test_random_below(&self->random, HOST_BYTES / 16);
        void *memory = NULL;
        if (dynsel_svm_alloc(where, bytes, 0, &memory) != DYNSEL_OK) {
            continue; /* the tables are small */
        }
        self->taken++;
        memset(memory, (int)(i & 0xff), bytes);
        self->failures +=
            dynsel_submit_command_group_and_wait(&policy.policy, use_quietly, memory) != DYNSEL_OK;
        self->failures += ((unsigned char *)memory)[bytes - 1] != (i & 0xff);
        self->failures += dynsel_svm_free(memory) != DYNSEL_OK;
    }
    return NULL;
}

static void threads_allocate_and_free_svm_blocks(void **state)
{
    static worker workers[THREADS];
    const dynsel_resource all[] = {device[A], host, device[B]};
    const uint64_t seed = test_seed();
    (void)state;
    sim.devices[A].sharing = sim.devices[B].sharing = DYNSEL_SHARES_ALLOCATED;
    begin_with(all, 3);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.random = {seed + i}};
        assert_int_equal(0,
                         pthread_create(&workers[i].thread, NULL, take_and_give_back, &workers[i]));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(workers[i].thread, NULL));
        assert_int_equal(0, workers[i].failures);
        assert_true(workers[i].taken > 0);
    }
    end();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(wrong_svm_calls_are_refused),
        TEST(freed_or_inner_svm_pointer_is_refused),
        TEST(svm_map_and_unmap_must_alternate),
        TEST(svm_blocks_are_aligned_and_disjoint),
        TEST(full_svm_pool_error_names_its_option),
        TEST(full_svm_pool_table_is_refused),
        TEST(driver_failure_leaves_svm_block_unchanged),
        TEST(mapping_decides_which_resource_takes_svm_pointer),
        TEST(fine_grain_svm_pointer_is_taken_mapped_or_not),
        TEST(svm_pointer_of_other_domain_is_refused),
        TEST(svm_error_describes_closest_resource),
        TEST(resource_excluded_once_is_considered_again),
        TEST(svm_free_and_map_during_use_are_busy),
        TEST(svm_map_polls_completed_work),
        TEST(concurrent_svm_map_and_unmap_are_refused),
        TEST(failed_work_does_not_hold_svm_block),
        TEST(svm_map_in_task_function_is_refused),
#if CONFIG_DYNSEL_CONTEXT_THREADS
        TEST(threads_allocate_and_free_svm_blocks),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
