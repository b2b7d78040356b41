/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include <stddef.h>

#include <dynsel/backend.h>

/* The linker gives these names, see ld's --wrap. */
uint64_t __real_dynsel_now_ns(void);
uint64_t __wrap_dynsel_now_ns(void);

static const inputs *current; /* NULL: outside of a call */
static uint32_t clocks_read;
static uint32_t predictions_read;

uint64_t __wrap_dynsel_now_ns(void)
{
    if (current == NULL) {
        return __real_dynsel_now_ns();
    }
    clocks_read++;
    if (current->clock_count == 0) {
        return 1;
    }
    const uint32_t last = current->clock_count - 1;
    return current->clock_ns[clocks_read <= last ? clocks_read - 1 : last];
}

uint64_t inputs_prediction(void)
{
    predictions_read++;
    return current != NULL && predictions_read <= current->prediction_count
               ? current->predicted_ns[predictions_read - 1]
               : 0;
}

void inputs_begin(const inputs *given)
{
    current = given;
    clocks_read = 0;
    predictions_read = 0;
}

bool inputs_end(void)
{
    const inputs *given = current;
    current = NULL;
    return clocks_read == given->clock_count && predictions_read == given->prediction_count;
}
