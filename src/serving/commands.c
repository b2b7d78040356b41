/* SPDX-License-Identifier: Apache-2.0 */
#include "serving/commands.h"

#include <string.h>

#include <dynsel/backend.h>

#include "backends/mpi/state.h"
#include "base/fail.h"
#include "serving/copies.h"
#include "serving/work.h"

/* A launch whose message was checked. */
typedef struct launch {
    dynsel_served_group group;
    const dynsel_kernel *kernel;
    dynsel_mpi_launch_body body;
    dynsel_mpi_argument arguments[CONFIG_DYNSEL_MAX_ARGUMENTS];
    const unsigned char *values[CONFIG_DYNSEL_MAX_ARGUMENTS]; /* in the message */
    dynsel_buffer buffers[CONFIG_DYNSEL_MAX_ARGUMENTS];
    dynsel_accessor accessors[CONFIG_DYNSEL_MAX_ARGUMENTS];
} launch;

static dynsel_buffer empty; /* for data without elements; made at its first use */

dynsel_status dynsel_served_group_refuse(const char *detail, uint32_t number)
{
    (void)detail; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_serve"), DYNSEL_E_INVALID, detail, number);
}

dynsel_status dynsel_served_group_begin(dynsel_served_group *group, const dynsel_mpi_header *header)
{
    group->header = header;
    group->order.behind_count = 0;
    group->order.awaits_count = 0;
    group->use_count = 0;
    return dynsel_serving_policy(header->resource) != NULL
               ? DYNSEL_OK
               : dynsel_served_group_refuse(DYNSEL_TEXT("this rank has no resource {}"),
                                            header->resource);
}

dynsel_status dynsel_served_group_use(dynsel_served_group *group, const dynsel_mpi_place *place,
                                      bool writes, dynsel_buffer *buffer)
{
    const dynsel_status status = dynsel_served_copy_get(place, buffer);
    if (status == DYNSEL_OK) {
        group->uses[group->use_count++] =
            (dynsel_served_copy_use){.copy = place->copy, .writes = writes};
    }
    return status;
}

/* What it uses goes before what it is told to follow: a transfer that it follows is known then. */
dynsel_status dynsel_served_group_order(dynsel_served_group *group, dynsel_served_reader rest)
{
    dynsel_status held = DYNSEL_OK;
    for (uint32_t i = 0; i < group->use_count && held == DYNSEL_OK; i++) {
        const dynsel_served_copy_use *const use = &group->uses[i];
        const uint32_t brought_by = dynsel_served_copy_brought_by(use->copy);
        if (dynsel_served_copy_is_held(use->copy, use->writes)) {
            held = DYNSEL_E_AGAIN;
        } else if (brought_by != 0) {
            held = dynsel_served_order_await(&group->order, brought_by - 1);
        }
    }
    const dynsel_status status =
        dynsel_served_order_read(&group->order, group->header, rest, false);
    return status == DYNSEL_OK ? held : status;
}

dynsel_status dynsel_served_group_depend(const dynsel_served_group *group, dynsel_handler *handler)
{
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < group->order.behind_count && status == DYNSEL_OK; i++) {
        status = dynsel_depends_on(handler, group->order.behind[i]);
    }
    return status;
}

dynsel_status dynsel_served_group_submit(const dynsel_served_group *group, dynsel_group_fn function,
                                         void *args)
{
    const uint64_t begin_ns = dynsel_now_ns();
    dynsel_submission submission = {0};
    const dynsel_status status = dynsel_try_submit_command_group(
        dynsel_serving_policy(group->header->resource), function, args, &submission);
    if (status != DYNSEL_OK) {
        return dynsel_served_may_make_room(status) ? DYNSEL_E_AGAIN : status;
    }
    dynsel_served *const operation =
        dynsel_served_begin(group->header, DYNSEL_SERVED_RUNNING, dynsel_now_ns());
    dynsel_served_order_keep(&group->order, operation);
    operation->since_ns = begin_ns;
    operation->of.submission = submission;
    (void)dynsel_serving_look(operation); /* work in the caller is complete */
    return DYNSEL_OK;
}

static bool is_torn(const dynsel_range *range, bool must_be_given)
{
    return range->dimensions > (uint32_t)DYNSEL_MAX_DIMENSIONS ||
           (must_be_given && range->dimensions == 0);
}

static dynsel_status read_body(const dynsel_mpi_header *header, dynsel_served_reader *rest,
                               dynsel_mpi_launch_body *body, const dynsel_kernel **kernel)
{
    if (!dynsel_served_reader_take(rest, body, sizeof(*body)) ||
        body->argument_count > CONFIG_DYNSEL_MAX_ARGUMENTS) {
        return dynsel_served_group_refuse(DYNSEL_TEXT("the message about a kernel is torn"), 0);
    }
    if (body->kernel >= dynsel_mpi.options.kernel_count) {
        return dynsel_served_group_refuse(DYNSEL_TEXT("there is no kernel {}"), body->kernel);
    }
    if (header->kind == (uint8_t)DYNSEL_MPI_LAUNCH &&
        (is_torn(&body->global, true) || is_torn(&body->local, false) ||
         is_torn(&body->offset, false))) {
        return dynsel_served_group_refuse(DYNSEL_TEXT("a range has {} dimensions"),
                                          body->global.dimensions);
    }
    *kernel = dynsel_mpi.options.kernels[body->kernel];
    return DYNSEL_OK;
}

static dynsel_status find_data(launch *l, uint32_t index)
{
    const dynsel_mpi_place *const place = &l->arguments[index].place;
    if (place->access > (uint32_t)DYNSEL_ACCESS_ATOMIC) {
        return dynsel_served_group_refuse(DYNSEL_TEXT("argument {} has no such access"), index);
    }
    if (place->bytes != 0) {
        return dynsel_served_group_use(
            &l->group, place, place->access != (uint32_t)DYNSEL_ACCESS_READ, &l->buffers[index]);
    }
    static unsigned char nothing;
    const dynsel_status status =
        empty.token == 0 ? dynsel_buffer_init(&empty, &nothing, 1, DYNSEL_RANGE(0)) : DYNSEL_OK;
    l->buffers[index] = empty;
    return status;
}

static dynsel_status read_arguments(launch *l, dynsel_served_reader *rest)
{
    const uint32_t count = l->body.argument_count;
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < count && status == DYNSEL_OK; i++) {
        const dynsel_mpi_argument *const argument = &l->arguments[i];
        if (!dynsel_served_reader_take(rest, &l->arguments[i], sizeof(l->arguments[i]))) {
            status = dynsel_served_group_refuse(DYNSEL_TEXT("argument {} is torn"), i);
        } else if (argument->kind == (uint32_t)DYNSEL_ARGUMENT_DATA) {
            status = find_data(l, i);
        } else if (argument->kind == (uint32_t)DYNSEL_ARGUMENT_VALUE) {
            l->values[i] = dynsel_served_reader_skip_rounded(rest, argument->bytes);
            status = l->values[i] != NULL ? DYNSEL_OK
                                          : dynsel_served_group_refuse(
                                                DYNSEL_TEXT("the value of argument {} is torn"), i);
        } else if (argument->kind != (uint32_t)DYNSEL_ARGUMENT_LOCAL &&
                   argument->kind != (uint32_t)DYNSEL_ARGUMENT_POINTER) {
            status = dynsel_served_group_refuse(DYNSEL_TEXT("argument {} is of no such kind"), i);
        } else {
            l->values[i] = NULL;
        }
    }
    return status;
}

/* Two arguments with the same use of one copy are one requirement, as on rank 0. */
static const dynsel_accessor *accessor_of(launch *l, dynsel_handler *handler, uint32_t index)
{
    const uint32_t access = l->arguments[index].place.bytes != 0 ? l->arguments[index].place.access
                                                                 : (uint32_t)DYNSEL_ACCESS_READ;
    for (uint32_t i = 0; i < index; i++) {
        if (l->arguments[i].kind == (uint32_t)DYNSEL_ARGUMENT_DATA &&
            l->buffers[i].token == l->buffers[index].token && l->accessors[i].mode == access) {
            l->accessors[index] = l->accessors[i];
            return &l->accessors[i];
        }
    }
    const dynsel_status status =
        dynsel_get_access(handler, l->buffers[index], (dynsel_access_mode)access,
                          DYNSEL_MEMORY_GLOBAL, &l->accessors[index]);
    return status == DYNSEL_OK ? &l->accessors[index] : NULL; /* the handler has the failure */
}

static dynsel_status set_argument(launch *l, dynsel_handler *handler, uint32_t index)
{
    const dynsel_mpi_argument *const argument = &l->arguments[index];
    if (argument->kind == (uint32_t)DYNSEL_ARGUMENT_VALUE) {
        return dynsel_set_arg_value(handler, index, l->values[index], argument->bytes);
    }
    if (argument->kind == (uint32_t)DYNSEL_ARGUMENT_LOCAL) {
        return dynsel_set_arg_local(handler, index, argument->bytes);
    }
    if (argument->kind == (uint32_t)DYNSEL_ARGUMENT_POINTER) {
        return dynsel_set_arg_pointer(handler, index, NULL);
    }
    return dynsel_set_arg_accessor(handler, index, accessor_of(l, handler, index));
}

static dynsel_status record_launch(dynsel_handler *handler, void *args)
{
    launch *const l = args;
    dynsel_status status = dynsel_served_group_depend(&l->group, handler);
    for (uint32_t i = 0; i < l->body.argument_count && status == DYNSEL_OK; i++) {
        status = set_argument(l, handler, i);
    }
    return status != DYNSEL_OK
               ? status
               : dynsel_parallel_for(handler, l->kernel, l->body.global,
                                     l->body.local.dimensions != 0 ? &l->body.local : NULL,
                                     l->body.offset.dimensions != 0 ? &l->body.offset : NULL);
}

dynsel_status dynsel_serving_launch(const dynsel_mpi_header *header, dynsel_served_reader body)
{
    static launch l; /* not on the stack: it is as long as a message */
    dynsel_status status = dynsel_served_group_begin(&l.group, header);
    status = status == DYNSEL_OK ? read_body(header, &body, &l.body, &l.kernel) : status;
    status = status == DYNSEL_OK ? read_arguments(&l, &body) : status;
    status = status == DYNSEL_OK ? dynsel_served_group_order(&l.group, body) : status;
    return status == DYNSEL_OK ? dynsel_served_group_submit(&l.group, record_launch, &l) : status;
}

dynsel_status dynsel_serving_prepare(const dynsel_mpi_header *header, dynsel_served_reader body)
{
    dynsel_mpi_launch_body launched = {.kernel = 0};
    const dynsel_kernel *kernel = NULL;
    dynsel_policy *const policy = dynsel_serving_policy(header->resource);
    dynsel_status status = read_body(header, &body, &launched, &kernel);
    if (status == DYNSEL_OK && policy == NULL) {
        status = dynsel_served_group_refuse(DYNSEL_TEXT("this rank has no resource {}"),
                                            header->resource);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    const uint64_t begin_ns = dynsel_now_ns();
    status = dynsel_kernel_prepare(policy, &kernel, 1, NULL, NULL);
    if (status != DYNSEL_OK) {
        return status;
    }
    dynsel_served *const operation =
        dynsel_served_begin(header, DYNSEL_SERVED_RUNNING, dynsel_now_ns());
    operation->result.took_ns = dynsel_now_ns() - begin_ns;
    dynsel_served_end(operation, NULL);
    return DYNSEL_OK;
}

void dynsel_serving_reset_commands(void)
{
    empty = (dynsel_buffer){0};
}

void dynsel_serving_end_commands(void)
{
    if (empty.token != 0) {
        const dynsel_status status = dynsel_buffer_discard(&empty);
        (void)status; /* where work was given up it stays */
    }
}
