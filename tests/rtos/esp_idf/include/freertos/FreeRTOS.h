/* SPDX-License-Identifier: Apache-2.0 */
/* The part of ESP-IDF's FreeRTOS that dynsel's port uses, as its documentation describes it. */
#ifndef TESTS_RTOS_ESP_IDF_FREERTOS_H
#define TESTS_RTOS_ESP_IDF_FREERTOS_H

#include <stdbool.h>
#include <stdint.h>

typedef int BaseType_t;
typedef uint32_t TickType_t;
typedef struct {
    unsigned count;
} portMUX_TYPE;

#define pdFALSE            0
#define pdTRUE             1
#define configTICK_RATE_HZ 100
#define portMAX_DELAY      UINT32_MAX
#define portMUX_INITIALIZER_UNLOCKED                                                               \
    {                                                                                              \
        0                                                                                          \
    }

/* The last two know where they are called; the first two are for tasks. */
#define portENTER_CRITICAL(mux)      stub_enter(mux, false)
#define portEXIT_CRITICAL(mux)       stub_leave(mux, false)
#define portENTER_CRITICAL_SAFE(mux) stub_enter(mux, true)
#define portEXIT_CRITICAL_SAFE(mux)  stub_leave(mux, true)
#define portYIELD_FROM_ISR(runs)     stub_yield(runs)

void stub_enter(portMUX_TYPE *mux, bool anywhere);
void stub_leave(portMUX_TYPE *mux, bool anywhere);
void stub_yield(BaseType_t runs);
BaseType_t xPortInIsrContext(void);

#endif
