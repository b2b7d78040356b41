/* SPDX-License-Identifier: Apache-2.0 */
/* One thread with a queue of fixed length. */
#ifndef DYNSEL_BACKENDS_THREADS_WORKER_H
#define DYNSEL_BACKENDS_THREADS_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/word.h>

enum { DYNSEL_WORKER_NAME_BYTES = sizeof "worker 63" };

typedef struct dynsel_worker {
    _Alignas(64) pthread_mutex_t lock; /* guards all below except thread and name */
    pthread_cond_t changed;            /* signals new work, and the end */
    uint32_t oldest;                   /* its index in the queue */
    uint32_t waiting;                  /* number of entries of the queue */
    dynsel_word has_work;              /* 1: it is not empty, or the worker ends; read without the
                                          lock */
    bool ends;                         /* as soon as the queue is empty */
    pthread_t thread;
    char name[DYNSEL_WORKER_NAME_BYTES];
    dynsel_work *queue[CONFIG_DYNSEL_THREADS_QUEUE];
} dynsel_worker;

/* Starts the thread. Returns 0 or an error number. */
int dynsel_worker_start(dynsel_worker *worker);

/* Runs all work of the queue, ends the thread, and waits for both. */
void dynsel_worker_stop(dynsel_worker *worker);

/* Adds work to the queue, from any thread. False: the queue is full. */
bool dynsel_worker_give(dynsel_worker *worker, dynsel_work *work);

/* Takes back work that the thread has not taken yet. False: it has. */
bool dynsel_worker_take_back(dynsel_worker *worker, const dynsel_work *work);

#endif
