/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend with memory of its own: devices with queues, in domains that the test chooses, whose
 * work takes place when it completes and not when it is started. So what is moved too late, not at
 * all, or in the wrong order gives wrong results, and copies hold garbage until something is moved
 * there.
 *
 * Kernels run their host form on the device's copies, under the backend's one lock: they must not
 * call the library. What a kernel returns is how the work ends.
 *
 * Memory that is shared is seen apart by the host and the device all the same: who does not hold it
 * finds garbage.
 */
#ifndef DYNSEL_TESTS_SIMULATED_MEMORY_H
#define DYNSEL_TESTS_SIMULATED_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/memory.h>

enum {
    SIMULATED_DEVICES = 4,
    SIMULATED_MANY_LOOKS = 100,
    SIMULATED_DOMAINS = 4, /* numbers 1 to 4 */
    /* No test has more buffers on devices, or more work in flight there. */
    SIMULATED_BUFFERS = CONFIG_DYNSEL_MAX_BUFFERS < 32 ? CONFIG_DYNSEL_MAX_BUFFERS : 32,
    SIMULATED_WORK = CONFIG_DYNSEL_MAX_IN_FLIGHT < 64 ? CONFIG_DYNSEL_MAX_IN_FLIGHT : 64,
    SIMULATED_COPIES = SIMULATED_BUFFERS * SIMULATED_DOMAINS + CONFIG_DYNSEL_STAGING_COUNT,
    SIMULATED_OPERATIONS =
        SIMULATED_WORK *
            (CONFIG_DYNSEL_MAX_REQUIREMENTS < 8 ? CONFIG_DYNSEL_MAX_REQUIREMENTS + 2 : 10) +
        2 * CONFIG_DYNSEL_STAGING_COUNT + 16,
    SIMULATED_AFTER = DYNSEL_MOST_AFTER,
    SIMULATED_POOL_BYTES = CONFIG_DYNSEL_HAS_MUCH_RAM ? 1 << 20 : 4096
};

/* When what was started takes place. */
typedef enum simulated_pace {
    SIMULATED_AT_ONCE,     /* in the call that starts it; work has no event, unless it fails */
    SIMULATED_WHEN_POLLED, /* after some looks at work of the device; any wait hurries */
    SIMULATED_BY_HAND      /* when the test says so; any wait, and SIMULATED_MANY_LOOKS polls,
                              hurry, unless wait_sleeps */
} simulated_pace;

/* The backend's operations, as bits, for counts and for failures. */
typedef enum simulated_kind {
    SIMULATED_ALLOCATE = 1,
    SIMULATED_BRING = 2,
    SIMULATED_FETCH = 4,
    SIMULATED_LAUNCH = 8,
    SIMULATED_WRITE_BACK = 16,
    SIMULATED_PASS = 32
} simulated_kind;

typedef enum simulated_state {
    SIMULATED_FREE,
    SIMULATED_PENDING,
    SIMULATED_DONE,
    SIMULATED_FAILED
} simulated_state;

typedef struct simulated_copy {
    uint32_t domain;                 /* 0: free */
    struct simulated_device *device; /* it was allocated through */
    size_t bytes;
    unsigned char *data; /* what the device sees */
    unsigned char *host; /* what the host sees; NULL: ranges are staged in it */
    bool shared;
    bool device_has_it; /* of shared memory */
    bool host_may_read;
    unsigned pending; /* operations that use it and did not take place yet */
    unsigned moving;  /* of these, those that move it */
    unsigned passing; /* of these, those that pass it on */
    bool was_mapped;
    bool given_up; /* work that was given up may use it for ever */
} simulated_copy;

typedef struct simulated_device {
    uint32_t domain; /* from 1; 0: the host's memory */
    bool in_order;
    bool moves_beside;      /* in order: transfers do not wait for work before them */
    bool shares;            /* its copies are the host's memory where the library allows it */
    bool maps_first;        /* shared memory is the host's until it is handed over */
    bool prepares;          /* new memory is made ready by an operation of its own */
    dynsel_sharing sharing; /* with the host, through pointers */
    simulated_pace pace;
    unsigned polls;       /* how many looks a piece of work needs at most, with WHEN_POLLED */
    bool looks_at_start;  /* start tells where work is over then */
    atomic_bool refuses;  /* start is DYNSEL_E_OUT_OF_SERVICE */
    atomic_bool is_full;  /* start is DYNSEL_E_AGAIN */
    atomic_uint full_for; /* so are that many starts */
    atomic_int attached;
    bool is_lost;   /* with its memory */
    unsigned apart; /* domains, as bits by number, whose memory it does not reach */
} simulated_device;

typedef struct simulated_operation {
    simulated_state state;
    simulated_kind kind;
    simulated_device *device;
    bool owned;        /* the library holds its event */
    bool given_up;     /* the library must not ask for it; a command works on anything later */
    bool fails;        /* as the test ordered */
    bool delivered;    /* of a fetch: the host's memory has the data */
    bool moved;        /* of a transfer to the device: its memory has the data */
    unsigned held;     /* operations that come after it */
    unsigned polls;    /* that are still needed */
    unsigned looks;    /* polls while it was pending */
    uint32_t sequence; /* in the order of the calls */
    dynsel_status result;
    int32_t code;         /* of the failure, as the kernel told it, or made of the status */
    simulated_copy *copy; /* that is moved */
    simulated_copy *from; /* that is passed on */
    uint64_t seen;        /* what it had in it when that was begun */
    unsigned char *host;  /* where from or to; `bytes` of it */
    size_t bytes;
    bool contents;
    bool to_write;
    const dynsel_command *command;
    simulated_copy *copies[CONFIG_DYNSEL_MAX_ARGUMENTS + 2]; /* of the arguments, from, and to */
    struct simulated_operation *after[SIMULATED_AFTER];
    size_t after_count;
} simulated_operation;

/* What happened since the reset. */
typedef struct simulated_counts {
    unsigned allocated, released, brought, fetched, launched, written_back;
    unsigned passed, refused;
    unsigned polls, waits;
    size_t bytes_in, bytes_out; /* moved; nothing for shared memory */
    size_t bytes_passed;
} simulated_counts;

typedef struct simulated_backend {
    dynsel_backend backend;
    simulated_device devices[SIMULATED_DEVICES];
    size_t limits[SIMULATED_DOMAINS + 1]; /* bytes of a domain, by number */
    bool wait_sleeps;        /* wait and polls leave BY_HAND work to the test, in another thread */
    void (*releasing)(void); /* called before memory is given back, with no lock of its own */
    /* called when an operation takes place, under the backend's lock: for time to pass */
    void (*taking_place)(unsigned device, simulated_kind kind);
    bool failures_are_losses; /* a device that fails has lost its memory; not by default */
    bool waits_deliver;       /* what is fetched is in the host's memory only after `wait`; then the
                           backend's polls do not synchronize */
    simulated_counts counts;
    atomic_uint mistakes; /* of the library; each is printed */

    /* the backend's own */
    atomic_uint lock;
    uint64_t random;
    uint32_t sequence;
    unsigned failing_kinds;
    unsigned failing_in; /* the n-th of these kinds from now on; 0: none */
    bool failing_late;
    dynsel_status failing_status;
    bool has_failed; /* memory that was lost may stay where it is for a while */
    size_t used[SIMULATED_DOMAINS + 1];
    simulated_copy copies[SIMULATED_COPIES];
    simulated_operation operations[SIMULATED_OPERATIONS];
    _Alignas(16) unsigned char pool[SIMULATED_POOL_BYTES];
} simulated_backend;

/* Forgets everything before. Each device has a domain of its own, its number + 1, with room for the
 * whole pool, shares nothing, is in order, and works AT_ONCE; change the fields after this. */
void simulated_reset(simulated_backend *backend, uint64_t seed, bool waits_deliver);

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
/* Its domains pass data to each other. Before it is used; a reset ends it. */
void simulated_let_pass(simulated_backend *backend);
#endif

dynsel_resource simulated_resource(simulated_backend *backend, unsigned device);

/* The n-th operation of these kinds from now on (1: the next) fails with `status`. late: the call
 * succeeds, and its work fails when it takes place; not for ALLOCATE, nor where shared memory is
 * handed to a device. */
void simulated_fail(simulated_backend *backend, unsigned kinds, unsigned n, bool late,
                    dynsel_status status);

/* Lets one operation of a device take place, whichever can; false: none can. */
bool simulated_step(simulated_backend *backend, unsigned device);

/* Lets everything take place that can, on all devices. */
void simulated_finish(simulated_backend *backend);

/* A kernel that the backend has no form of; NULL: it has one of each that has C. */
extern const dynsel_kernel *simulated_lacks;

/* Asked before each command is started, without a lock: any failure refuses it. NULL: none is. */
extern dynsel_status (*simulated_refuse)(const dynsel_command *command);

/* How many operations did not take place yet. */
unsigned simulated_pending(simulated_backend *backend);

/* How many copies nobody may use or release, because work that was given up may use them. */
unsigned simulated_kept(const simulated_backend *backend);

/* No mistakes were seen; and with `empty` no copy but those and no event is left. */
void simulated_assert_clean(simulated_backend *backend, bool empty);

#endif
