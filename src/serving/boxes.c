/* SPDX-License-Identifier: Apache-2.0 */
#include "serving/boxes.h"

#include <string.h>

#include "base/fail.h"
#include "serving/commands.h"

enum { LONGEST_ELEMENT = 128 }; /* of a fill: that of dynsel_fill() */

/* The kernels move units of 16, 4 or 1 bytes: all offsets, pitches and rows are multiples of it. */
enum { UNITS = 3 };
static const size_t unit_bytes[UNITS] = {16, 4, 1};

/* What a kernel gets by value, in units: an ulong8 in OpenCL. */
typedef struct parameters {
    uint64_t to_first;
    uint64_t to_row;
    uint64_t to_slice;
    uint64_t from_first; /* of a fill: units of the element */
    uint64_t from_row;
    uint64_t from_slice;
    uint64_t unit_bytes;
    uint64_t unused;
} parameters;

/* An ulong16 in OpenCL. */
typedef struct element {
    unsigned char bytes[LONGEST_ELEMENT];
} element;

_Static_assert(sizeof(parameters) == 64 && sizeof(element) == 128,
               "they are the values that the OpenCL forms take: ulong8 and ulong16");

/* A copy or fill whose message was checked. */
typedef struct work {
    dynsel_served_group group;
    dynsel_mpi_boxes_body body;
    dynsel_buffer from; /* all zero: it is a fill */
    dynsel_buffer to;
    element element;
    parameters parameters;
    dynsel_range range;
    const dynsel_kernel *kernel;
    dynsel_accessor from_accessor;
    dynsel_accessor to_accessor;
} work;

static const unsigned char *from_row(const dynsel_launch *launch, const parameters *p, size_t slice,
                                     size_t row)
{
    const unsigned char *const from = dynsel_launch_data(launch, 1);
    return &from[(p->from_first + slice * p->from_slice + row * p->from_row) * p->unit_bytes];
}

static unsigned char *to_row(const dynsel_launch *launch, const parameters *p, size_t slice,
                             size_t row)
{
    unsigned char *const to = dynsel_launch_data(launch, 0);
    return &to[(p->to_first + slice * p->to_slice + row * p->to_row) * p->unit_bytes];
}

static dynsel_status copy_on_host(const dynsel_launch *launch)
{
    parameters p;
    (void)memcpy(&p, launch->arguments[2].value, sizeof(p));
    for (size_t slice = 0; slice < launch->global.size[0]; slice++) {
        for (size_t row = 0; row < launch->global.size[1]; row++) {
            (void)memmove(to_row(launch, &p, slice, row), from_row(launch, &p, slice, row),
                          launch->global.size[2] * p.unit_bytes);
        }
    }
    return DYNSEL_OK;
}

static dynsel_status fill_on_host(const dynsel_launch *launch)
{
    parameters p;
    (void)memcpy(&p, launch->arguments[1].value, sizeof(p));
    const unsigned char *const bytes = launch->arguments[2].value;
    const size_t element_bytes = p.from_first * p.unit_bytes;
    const size_t row_bytes = launch->global.size[2] * p.unit_bytes;
    for (size_t slice = 0; slice < launch->global.size[0]; slice++) {
        for (size_t row = 0; row < launch->global.size[1]; row++) {
            unsigned char *const to = to_row(launch, &p, slice, row);
            for (size_t i = 0; i < row_bytes; i += element_bytes) {
                const size_t rest = row_bytes - i;
                (void)memcpy(&to[i], bytes, rest < element_bytes ? rest : element_bytes);
            }
        }
    }
    return DYNSEL_OK;
}

#define COPY_KERNEL(unit)                                                                          \
    {                                                                                              \
        .name = "dynsel_copy_box", .function = copy_on_host, .options = "-DUNIT=" unit,            \
        .source = "kernel void dynsel_copy_box(global UNIT *to, global const UNIT *from,"          \
                  " ulong8 p)\n"                                                                   \
                  "{\n"                                                                            \
                  "    const ulong x = get_global_id(0);\n"                                        \
                  "    const ulong y = get_global_id(1);\n"                                        \
                  "    const ulong z = get_global_id(2);\n"                                        \
                  "    to[p.s0 + z * p.s2 + y * p.s1 + x] ="                                       \
                  " from[p.s3 + z * p.s5 + y * p.s4 + x];\n"                                       \
                  "}\n",                                                                           \
    }

#define FILL_KERNEL(unit)                                                                          \
    {                                                                                              \
        .name = "dynsel_fill_box", .function = fill_on_host, .options = "-DUNIT=" unit,            \
        .source = "kernel void dynsel_fill_box(global UNIT *to, ulong8 p, ulong16 element)\n"      \
                  "{\n"                                                                            \
                  "    const ulong x = get_global_id(0);\n"                                        \
                  "    const ulong y = get_global_id(1);\n"                                        \
                  "    const ulong z = get_global_id(2);\n"                                        \
                  "    to[p.s0 + z * p.s2 + y * p.s1 + x] ="                                       \
                  " ((const private UNIT *)&element)[x % p.s3];\n"                                 \
                  "}\n",                                                                           \
    }

static const dynsel_kernel copy_kernels[UNITS] = {COPY_KERNEL("uint4"), COPY_KERNEL("uint"),
                                                  COPY_KERNEL("uchar")};
static const dynsel_kernel fill_kernels[UNITS] = {FILL_KERNEL("uint4"), FILL_KERNEL("uint"),
                                                  FILL_KERNEL("uchar")};

/* Adds product and sum to `*sum`. False: it exceeds size_t. */
static bool add_steps(size_t *sum, size_t steps, size_t pitch)
{
    size_t all = 0;
    return !__builtin_mul_overflow(steps, pitch, &all) && !__builtin_add_overflow(*sum, all, sum);
}

static bool is_empty(const dynsel_box *box)
{
    return box->size[0] == 0 || box->size[1] == 0 || box->size[2] == 0;
}

/* Whether all bytes of the box lie in the copy, and none twice: else it could have any number of
 * rows. */
static bool is_inside(const dynsel_box *box, uint64_t bytes)
{
    size_t end = box->first;
    if (is_empty(box)) {
        return true;
    }
    return (box->size[1] == 1 || box->row_pitch >= box->size[2]) &&
           (box->size[0] == 1 || box->slice_pitch >= box->size[2]) &&
           add_steps(&end, box->size[0] - 1, box->slice_pitch) &&
           add_steps(&end, box->size[1] - 1, box->row_pitch) && add_steps(&end, box->size[2], 1) &&
           end <= bytes;
}

static bool is_one_piece(const dynsel_box *box)
{
    return (box->size[1] == 1 || box->row_pitch == box->size[2]) &&
           (box->size[0] == 1 || box->slice_pitch == box->size[1] * box->size[2]);
}

static size_t bytes_of(const dynsel_box *box)
{
    return is_empty(box) ? 0 : box->size[0] * box->size[1] * box->size[2];
}

static bool is_in_units(const dynsel_box *box, size_t unit)
{
    return box->first % unit == 0 && box->size[2] % unit == 0 &&
           (box->size[1] <= 1 || box->row_pitch % unit == 0) &&
           (box->size[0] <= 1 || box->slice_pitch % unit == 0);
}

static uint32_t unit_of(const work *w)
{
    uint32_t i = 0;
    while (i + 1 < (uint32_t)UNITS &&
           !(is_in_units(&w->body.to_box, unit_bytes[i]) &&
             (w->from.token != 0 ? is_in_units(&w->body.from_box, unit_bytes[i])
                                 : w->body.element_bytes % unit_bytes[i] == 0))) {
        i++;
    }
    return i;
}

/* Chooses the kernel and its parameters. */
static void describe(work *w)
{
    const dynsel_box *const to = &w->body.to_box;
    const dynsel_box *const from = &w->body.from_box;
    const uint32_t place = unit_of(w);
    const size_t unit = unit_bytes[place];
    const bool copies = w->from.token != 0;
    w->kernel = copies ? &copy_kernels[place] : &fill_kernels[place];
    w->range = DYNSEL_RANGE_3D(to->size[0], to->size[1], to->size[2] / unit);
    w->parameters = (parameters){
        .to_first = to->first / unit,
        .to_row = to->row_pitch / unit,
        .to_slice = to->slice_pitch / unit,
        .from_first = (copies ? from->first : w->body.element_bytes) / unit,
        .from_row = from->row_pitch / unit,
        .from_slice = from->slice_pitch / unit,
        .unit_bytes = unit,
    };
}

static dynsel_status access(dynsel_handler *handler, dynsel_accessor *accessor,
                            dynsel_buffer buffer, dynsel_access_mode mode, const dynsel_box *piece)
{
    *accessor = (dynsel_accessor){
        .name = "a box", .buffer = buffer, .mode = (uint8_t)mode, .placeholder = true};
    if (piece != NULL) {
        accessor->range = DYNSEL_RANGE(bytes_of(piece));
        accessor->offset = DYNSEL_RANGE(piece->first);
    }
    return dynsel_require(handler, accessor);
}

/* Whether the old contents are not needed. */
static dynsel_access_mode mode_of(const work *w)
{
    const dynsel_box *const box = &w->body.to_box;
    return is_one_piece(box) && bytes_of(box) == w->body.to.bytes ? DYNSEL_ACCESS_DISCARD_WRITE
                                                                  : DYNSEL_ACCESS_WRITE;
}

static dynsel_status record_copy(dynsel_handler *handler, void *args)
{
    work *const w = args;
    dynsel_status status = dynsel_served_group_depend(&w->group, handler);
    if (status == DYNSEL_OK) {
        status = access(handler, &w->from_accessor, w->from, DYNSEL_ACCESS_READ, &w->body.from_box);
    }
    if (status == DYNSEL_OK) {
        status = access(handler, &w->to_accessor, w->to, mode_of(w), &w->body.to_box);
    }
    return status == DYNSEL_OK ? dynsel_copy(handler, &w->from_accessor, &w->to_accessor) : status;
}

static dynsel_status record_fill(dynsel_handler *handler, void *args)
{
    work *const w = args;
    dynsel_status status = dynsel_served_group_depend(&w->group, handler);
    if (status == DYNSEL_OK) {
        status = access(handler, &w->to_accessor, w->to, mode_of(w), &w->body.to_box);
    }
    return status == DYNSEL_OK
               ? dynsel_fill(handler, &w->to_accessor, w->element.bytes, w->body.element_bytes)
               : status;
}

static dynsel_status record_kernel(dynsel_handler *handler, void *args)
{
    work *const w = args;
    const bool copies = w->from.token != 0;
    dynsel_status status = dynsel_served_group_depend(&w->group, handler);
    if (status == DYNSEL_OK) {
        status = access(handler, &w->to_accessor, w->to, mode_of(w), NULL);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &w->to_accessor);
    }
    if (status == DYNSEL_OK && copies) {
        status = access(handler, &w->from_accessor, w->from, DYNSEL_ACCESS_READ, NULL);
    }
    if (status == DYNSEL_OK && copies) {
        status = dynsel_set_arg_accessor(handler, 1, &w->from_accessor);
    }
    if (status == DYNSEL_OK) {
        status =
            dynsel_set_arg_value(handler, copies ? 2 : 1, &w->parameters, sizeof(w->parameters));
    }
    if (status == DYNSEL_OK && !copies) {
        status = dynsel_set_arg_value(handler, 2, &w->element, sizeof(w->element));
    }
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, w->kernel, w->range, NULL, NULL)
                               : status;
}

static dynsel_status refuse(void)
{
    return dynsel_served_group_refuse(DYNSEL_TEXT("a box does not lie in its copy"), 0);
}

/* The common beginning of both messages. */
static dynsel_status begin(work *w, const dynsel_mpi_header *header, dynsel_served_reader *body)
{
    w->from = (dynsel_buffer){0};
    w->to = (dynsel_buffer){0};
    dynsel_status status = dynsel_served_group_begin(&w->group, header);
    if (status == DYNSEL_OK && !dynsel_served_reader_take(body, &w->body, sizeof(w->body))) {
        status = dynsel_served_group_refuse(DYNSEL_TEXT("the message about a box is torn"), 0);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_served_group_use(&w->group, &w->body.to, true, &w->to);
    }
    return status != DYNSEL_OK || is_inside(&w->body.to_box, w->body.to.bytes) ? status : refuse();
}

static bool have_equal_sizes(const dynsel_box *a, const dynsel_box *b)
{
    return a->size[0] == b->size[0] && a->size[1] == b->size[1] && a->size[2] == b->size[2];
}

static dynsel_status submit(work *w, dynsel_served_reader rest, dynsel_group_fn in_one_piece)
{
    const dynsel_status status = dynsel_served_group_order(&w->group, rest);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (in_one_piece != NULL) {
        return dynsel_served_group_submit(&w->group, in_one_piece, w);
    }
    describe(w);
    return dynsel_served_group_submit(&w->group, record_kernel, w);
}

dynsel_status dynsel_serving_copy(const dynsel_mpi_header *header, dynsel_served_reader body)
{
    static work w;
    dynsel_status status = begin(&w, header, &body);
    if (status == DYNSEL_OK) {
        status = dynsel_served_group_use(&w.group, &w.body.from, false, &w.from);
    }
    if (status == DYNSEL_OK && !(is_inside(&w.body.from_box, w.body.from.bytes) &&
                                 have_equal_sizes(&w.body.from_box, &w.body.to_box))) {
        status = refuse();
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    const bool in_one_piece =
        !is_empty(&w.body.to_box) && is_one_piece(&w.body.from_box) && is_one_piece(&w.body.to_box);
    return submit(&w, body, in_one_piece ? record_copy : NULL);
}

dynsel_status dynsel_serving_fill(const dynsel_mpi_header *header, dynsel_served_reader body)
{
    static work w;
    const dynsel_status status = begin(&w, header, &body);
    if (status != DYNSEL_OK) {
        return status;
    }
    const unsigned char *const bytes =
        dynsel_served_reader_skip_rounded(&body, w.body.element_bytes);
    if (bytes == NULL || w.body.element_bytes == 0 ||
        w.body.element_bytes > (uint32_t)LONGEST_ELEMENT) {
        return dynsel_served_group_refuse(
            DYNSEL_TEXT("an element of {} bytes, or a torn one, cannot fill"),
            w.body.element_bytes);
    }
    (void)memcpy(w.element.bytes, bytes, w.body.element_bytes);
    const bool in_one_piece =
        !is_empty(&w.body.to_box) && is_one_piece(&w.body.to_box) && w.body.element_bytes == 1;
    return submit(&w, body, in_one_piece ? record_fill : NULL);
}
