/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Devices that do not exist, in virtual time: to test a policy, or to plan a machine.
 *
 * A program describes devices, gives them to a policy as resources, and submits work as on a real
 * machine. The functions of tasks and kernels compute nothing; they say how long they take, with
 * dynsel_simulated_spend(). The same program has the same course each time, on every machine.
 *
 * These functions are in an archive of their own, libdynsel-simulator.a. It is built with
 * libdynsel.a, for configurations that have a hosted C library, custom backends and work in flight
 * (without CONFIG_DYNSEL_IN_FLIGHT_SMALL), and works with the library of the same configuration
 * only. A program that links it in front of libdynsel.a lives in virtual time: dynsel_now_ns() is
 * defined here. It has one thread, and calls no dynsel_progress_thread_start().
 *
 * Virtual time passes only when the program spends it, submits work, or waits for work. A program
 * that polls the same work 16 times, with nothing in between, waits: time goes on to the next end
 * of any work.
 *
 * A device does its work in the order of the submits, and beside that one transfer after the other.
 * Devices that are processors of the host may share them: see dynsel_simulated_share().
 */
#ifndef DYNSEL_SIMULATOR_H
#define DYNSEL_SIMULATOR_H

#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/resource.h>

#if CONFIG_DYNSEL_CUSTOM_BACKENDS && CONFIG_DYNSEL_IN_FLIGHT && !CONFIG_DYNSEL_IN_FLIGHT_SMALL

DYNSEL_BEGIN_DECLS

/** How a simulated device runs work. */
typedef enum dynsel_simulated_kind {
    DYNSEL_SIMULATED_QUEUE,  /**< as an OpenCL device: its memory is that of `memory` */
    DYNSEL_SIMULATED_THREAD, /**< as a worker thread of the host, in the host's memory */
    DYNSEL_SIMULATED_CALLER  /**< as the inline backend: a submit returns when the work is over */
} dynsel_simulated_kind;

/** So many functions are compiled on each device (compile_ns); the runs of others add nothing. */
enum { DYNSEL_SIMULATED_FUNCTIONS = 16 };

/** A device. The program owns it, fills in the first part, the rest being zero, and keeps it until
 * no policy has it any more. */
typedef struct dynsel_simulated_device {
    const char *name; /**< NULL: "simulated"; borrowed */
    dynsel_simulated_kind kind;
    dynsel_aspect_set aspects; /**< what dynsel_device() says, DYNSEL_ASPECT_BIT() of each */
    uint32_t memory;     /**< of a queue: devices of one number share their memory; 0: the host's */
    uint32_t threads;    /**< that compute on the host's processors, see dynsel_simulated_share();
                            0: none; DYNSEL_PROCESSORS_ELSEWHERE: on those of another host */
    uint64_t submit_ns;  /**< what a submit takes of the caller's time */
    uint64_t latency_ns; /**< from the end of work until the program can see it; not of a caller */
    uint64_t transfer_ns; /**< each transfer to or from its memory, and for each MiB */
    uint64_t mib_ns;
    uint64_t compile_ns; /**< added to the first run of each task function or kernel, up to
                            DYNSEL_SIMULATED_FUNCTIONS of them; on a thread all command groups are
                            one function; not of a caller */
    uint64_t lost_ns; /**< from this time on it refuses work, and what runs then fails; 0: never */
    void *context;    /**< for the program */

    /* what happened; written by the simulator, read by the program */
    uint64_t pieces;       /**< of work that it has begun or will begin */
    uint64_t busy_ns;      /**< of these: their run times */
    uint64_t transfers;    /**< to and from its memory */
    uint64_t bytes;        /**< that they moved */
    uint64_t transfers_ns; /**< that they took */
    uint64_t free_ns;      /**< when it has done all its work */

    struct {
        uint64_t transfers_free_ns;
        const void *compiled[DYNSEL_SIMULATED_FUNCTIONS];
    } own; /**< the simulator's */
} dynsel_simulated_device;

/**
 * The device as a resource of a policy (dynsel_options.resources). Task functions get it as
 * `where`, with the device as its handle.
 *
 * Context: the program's thread. Cost: constant. Errors: none.
 */
dynsel_resource dynsel_simulated_resource(dynsel_simulated_device *device);

/**
 * Spends time. In the function of a task or kernel: the run takes so much longer. Elsewhere: the
 * program computes for so long.
 *
 * Context: the program's thread. May block: no. Errors: none.
 */
void dynsel_simulated_spend(uint64_t ns);

/**
 * Lets time pass until the program can see an end that it cannot see yet, of any work, or until
 * `until_ns` on the clock of dynsel_now_ns(), whichever comes first: for programs that play several
 * threads.
 *
 * until_ns: where nothing is in flight, a time that comes.
 * Context: the program's thread, not in the function of a task. May block: no. Errors: none.
 */
void dynsel_simulated_pass(uint64_t until_ns);

/**
 * The device on which the function of a task or kernel that makes this call runs.
 *
 * Returns: NULL outside of such functions.
 * Context: the program's thread. Cost: constant.
 */
dynsel_simulated_device *dynsel_simulated_running(void);

/**
 * Says how many processors the host has. While devices with `threads` that have work have more of
 * them in all, their runs take longer: with 3 threads on 2 processors, 1.5 times as long. Transfers
 * and the program itself use no processor here. A transfer that comes behind such a run begins when
 * that was to end at the transfer's submit.
 *
 * processor_count: 0: as many as there are threads, as without this call.
 * Context: the program's thread, before any work; dynsel_simulated_restart() sets it back to 0.
 * Cost: constant; then a submit to such a device is linear in the work that they have.
 * Errors: none.
 */
void dynsel_simulated_share(uint32_t processor_count);

/**
 * The same, and the program needs one of the processors, too, while it submits or spends time: it
 * counts as one more thread, so its own time becomes longer, too. While it waits it needs none.
 *
 * processor_count: 0: as many as there are threads; then the program does not count.
 * Context and errors: as dynsel_simulated_share().
 * Cost: constant; then a submit, and each time that the program spends, is linear in the work that
 * such devices have.
 */
void dynsel_simulated_share_with_program(uint32_t processor_count);

/**
 * Sets the time back to 1 ns: for another run in the same process. Before it, the program ends all
 * policies with simulated resources. After it, it fills in its devices anew, because they keep
 * times of the run before. The library's tables stay as they are, so work that ends at the same
 * time may be reported in another order than in a new process.
 *
 * Context: the program's thread. Cost: constant. Errors: none.
 */
void dynsel_simulated_restart(void);

DYNSEL_END_DECLS

#endif

#endif
