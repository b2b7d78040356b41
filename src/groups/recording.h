/* SPDX-License-Identifier: Apache-2.0 */
/* The recording of a command group: its begin and end, and the base of the functions that the group
 * function calls. */
#ifndef DYNSEL_GROUPS_RECORDING_H
#define DYNSEL_GROUPS_RECORDING_H

#include "base/fail.h"
#include "data/regions.h"
#include "groups/group.h"
#include "port/context.h"
#include "port/likely.h"

/* Prepares the group of a claimed slot for its group function. */
void dynsel_group_begin(dynsel_handler *group, uint32_t token, dynsel_group_fn function);

/*
 * After the group function: checks the recorded group, and resolves accessors of arguments to
 * buffers. returned: the status that the group function returned. Result: DYNSEL_OK, or the status
 * of the submission with the last error set.
 */
dynsel_status dynsel_group_close(dynsel_handler *group, dynsel_status returned,
                                 uint32_t failures_before);

/* A call by the group function, for error texts. */
typedef struct dynsel_call {
    dynsel_handler *handler;
    const char *function; /* static; NULL without CONFIG_DYNSEL_ERROR_TEXTS */
    const char *subject;  /* the accessor's name; NULL: the call has no accessor */
} dynsel_call;

/* The call of the public function that contains this macro. accessor: NULL: none. */
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

/* Keeps the last error for the submission, if it is the first failure of the group function. */
void dynsel_call_note_failure(const dynsel_call *call);

/* Fails, and keeps the failure for the submission. */
DYNSEL_RARE void dynsel_call_fail(const dynsel_call *call, dynsel_status status, const char *detail,
                                  uint32_t number);

/* The same; being inline, it shows compilers and analyzers which status is returned. */
static inline dynsel_status dynsel_call_refuse(const dynsel_call *call, dynsel_status status,
                                               const char *detail, uint32_t number)
{
    dynsel_call_fail(call, status, detail, number);
    return status;
}

#define DYNSEL_REFUSE(call, status, detail) dynsel_call_refuse(call, status, DYNSEL_TEXT(detail), 0)

#define DYNSEL_REFUSE_NUMBER(call, status, detail, number)                                         \
    dynsel_call_refuse(call, status, DYNSEL_TEXT(detail), (uint32_t)(number))

/* The status of this thread's last failure. */
static inline dynsel_status dynsel_call_refusal(void)
{
    const dynsel_status status = dynsel_this_thread()->last_error.status;
    return status != DYNSEL_OK ? status : DYNSEL_E_INVALID;
}

/* Fails with DYNSEL_E_INVALID: no group function is running, or a pointer is NULL. */
DYNSEL_RARE void dynsel_call_refuse_use(const dynsel_call *call);

/* DYNSEL_OK in the group function, but not in an interrupt of it. pointers: no pointer of the call
 * is NULL. */
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

/* dynsel_call_begin() of a call that sets the command. Refuses a second one. */
static inline dynsel_status dynsel_call_begin_command(const dynsel_call *call, bool pointers)
{
    const dynsel_status status = dynsel_call_begin(call, pointers);
    if (status == DYNSEL_OK && call->handler->command.kind != DYNSEL_COMMAND_NONE) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "a command group launches one thing, and has done so already");
    }
    return status;
}

/* Refuses a handle without a buffer; see dynsel_buffer_refuse(). */
DYNSEL_RARE dynsel_status dynsel_call_refuse_buffer(const dynsel_call *call, dynsel_buffer buffer);

/* The shape of an existing buffer. Refuses a buffer that was ended. Takes the lock. */
dynsel_status dynsel_shape_of(const dynsel_call *call, dynsel_buffer buffer, dynsel_shape *shape);

/* Finds the region of an accessor. Refuses a region that is not within the buffer. */
dynsel_status dynsel_region_of(const dynsel_call *call, const dynsel_accessor *accessor,
                               const dynsel_shape *shape, dynsel_region *region);

/* The entry in handler->bound of an accessor for global or constant memory that an argument or a
 * launch uses. Enters a placeholder that is not required yet. NULL: refused. */
const dynsel_bound *dynsel_bound_of(const dynsel_call *call, const dynsel_accessor *accessor);

/* `use` of an argument with this accessor; marked if the accessor is not required yet. */
static inline uint8_t dynsel_use_through(const dynsel_handler *handler, const dynsel_bound *bound)
{
    return (uint8_t)(bound->use != DYNSEL_NO_USE
                         ? bound->use
                         : DYNSEL_NOT_YET | (uint32_t)(bound - handler->bound));
}

/* Makes an argument a pointer to host memory; devices get a copy, as `staged` says. */
dynsel_status dynsel_stage_memory(const dynsel_call *call, const dynsel_staged *staged,
                                  dynsel_argument *argument);

/* Reserves room for a value, which is kept until the work is complete. */
dynsel_status dynsel_take_room(const dynsel_call *call, size_t bytes, unsigned char **room);

#endif
