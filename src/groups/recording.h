/* SPDX-License-Identifier: Apache-2.0 */
/* A command group while it is recorded: its begin and end, and what the functions share that its
 * group function calls. */
#ifndef DYNSEL_GROUPS_RECORDING_H
#define DYNSEL_GROUPS_RECORDING_H

#include "base/fail.h"
#include "data/regions.h"
#include "groups/group.h"
#include "port/context.h"
#include "port/likely.h"

/* Makes the group of a claimed slot ready for its group function: counts and flags only. */
void dynsel_group_begin(dynsel_handler *group, uint32_t token, dynsel_group_fn function);

/*
 * After the group function: checks the recorded group, resolves accessors of arguments to buffers.
 * returned: what it returned. DYNSEL_OK, or the status of the submission with the last error set.
 */
dynsel_status dynsel_group_close(dynsel_handler *group, dynsel_status returned,
                                 uint32_t failures_before);

/* One call of a function by the group function, for the error that it may become. */
typedef struct dynsel_call {
    dynsel_handler *handler;
    const char *function; /* static; NULL without CONFIG_DYNSEL_ERROR_TEXTS */
    const char *subject;  /* the accessor's name; NULL: it is about none */
} dynsel_call;

/* The call of the public function in which this stands. accessor: NULL: about none. */
#define DYNSEL_CALL(handler_, accessor_)                                                           \
    {                                                                                              \
        .handler = (handler_), .function = DYNSEL_TEXT(__func__),                                  \
        .subject = dynsel_accessor_label(accessor_)                                                \
    }

/* An accessor's name in error texts. */
static inline const char *dynsel_accessor_label(const dynsel_accessor *accessor)
{
    if (accessor == NULL || !CONFIG_DYNSEL_ERROR_TEXTS) {
        return NULL;
    }
    return accessor->name != NULL ? accessor->name : "an accessor";
}

/* Keeps the first failure of the group function for the submission. */
void dynsel_call_note_failure(const dynsel_call *call);

/* Fails, and keeps it. */
DYNSEL_RARE void dynsel_call_fail(const dynsel_call *call, dynsel_status status, const char *detail,
                                  uint32_t number);

/* The same, so that it can be seen that the status stays. */
static inline dynsel_status dynsel_call_refuse(const dynsel_call *call, dynsel_status status,
                                               const char *detail, uint32_t number)
{
    dynsel_call_fail(call, status, detail, number);
    return status;
}

#define DYNSEL_REFUSE(call, status, detail) dynsel_call_refuse(call, status, DYNSEL_TEXT(detail), 0)

#define DYNSEL_REFUSE_NUMBER(call, status, detail, number)                                         \
    dynsel_call_refuse(call, status, DYNSEL_TEXT(detail), (uint32_t)(number))

/* Why the last call that failed in this thread did. */
static inline dynsel_status dynsel_call_refusal(void)
{
    const dynsel_status status = dynsel_this_thread()->last_error.status;
    return status != DYNSEL_OK ? status : DYNSEL_E_INVALID;
}

/* Fails with DYNSEL_E_INVALID: the group function does not run, or a pointer is NULL. */
DYNSEL_RARE void dynsel_call_refuse_use(const dynsel_call *call);

/* DYNSEL_OK while the group function runs, not for an interrupt of it, where `pointers` says that
 * none of the call's is NULL. */
static inline dynsel_status dynsel_call_begin(const dynsel_call *call, bool pointers)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (DYNSEL_LIKELY(call->handler != NULL && call->handler->open && pointers)) {
        return DYNSEL_OK;
    }
    dynsel_call_refuse_use(call);
    return DYNSEL_E_INVALID;
}

/* Of a buffer that lives; refused when it was ended. Takes the lock. */
dynsel_status dynsel_shape_of(const dynsel_call *call, dynsel_buffer buffer, dynsel_shape *shape);

/* Finds the region of an accessor. Refuses a region that is not within the buffer. */
dynsel_status dynsel_region_of(const dynsel_call *call, const dynsel_accessor *accessor,
                               const dynsel_shape *shape, dynsel_region *region);

/* Where in handler->bound an accessor for global or constant memory stands that an argument or a
 * launch uses; a placeholder that is not required yet is entered. NULL: refused. */
const dynsel_bound *dynsel_bound_of(const dynsel_call *call, const dynsel_accessor *accessor);

/* The argument for it, or for what it will be when it is required. */
static inline uint8_t dynsel_use_through(const dynsel_handler *handler, const dynsel_bound *bound)
{
    return (uint8_t)(bound->use != DYNSEL_NO_USE
                         ? bound->use
                         : DYNSEL_NOT_YET | (uint32_t)(bound - handler->bound));
}

/* Room for a value that is kept until the work is complete. */
dynsel_status dynsel_take_room(const dynsel_call *call, size_t bytes, unsigned char **room);

#endif
