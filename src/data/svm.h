/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory behind pointer arguments. */
#ifndef DYNSEL_DATA_SVM_H
#define DYNSEL_DATA_SVM_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>

/* The owner of a block, and who can access it. */
typedef struct dynsel_svm_owner {
    const dynsel_backend *backend; /* NULL: host memory */
    uint32_t domain;               /* the backend's number of the domain */
    bool to_host;                  /* the host can access it now */
    bool to_device;                /* the devices of the domain can access it now */
} dynsel_svm_owner;

#if CONFIG_DYNSEL_SVM

/* Takes a reference to the block that a pointer points into, until dynsel_svm_unref(). Returns its
 * number; 0: none. */
uint16_t dynsel_svm_ref(const void *pointer);

/* given_up: a resource that was given up may use the block for ever. */
void dynsel_svm_unref(uint16_t number, bool given_up);

/* The owner of a referenced block; number 0: plain host memory. */
dynsel_svm_owner dynsel_svm_owner_of(uint16_t number);

#else

static inline uint16_t dynsel_svm_ref(const void *pointer)
{
    (void)pointer;
    return 0;
}

static inline void dynsel_svm_unref(uint16_t block, bool given_up)
{
    (void)block;
    (void)given_up;
}

static inline dynsel_svm_owner dynsel_svm_owner_of(uint16_t block)
{
    (void)block;
    return (dynsel_svm_owner){.to_host = true};
}

#endif

#endif
