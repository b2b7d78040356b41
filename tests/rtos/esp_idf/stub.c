/* SPDX-License-Identifier: Apache-2.0 */
#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/semphr.h"

#include "../interrupts.h"

int64_t esp_timer_get_time(void)
{
    static int64_t us;
    return us++;
}

void stub_enter(portMUX_TYPE *mux, bool anywhere)
{
    if (in_interrupt && !anywhere) {
        refuse("portENTER_CRITICAL() in an interrupt");
    }
    mux->count++;
    locks++;
}

void stub_leave(portMUX_TYPE *mux, bool anywhere)
{
    if (mux->count == 0 || (in_interrupt && !anywhere)) {
        refuse("portEXIT_CRITICAL() without its counterpart, or in an interrupt");
    }
    mux->count--;
    locks--;
}

void stub_yield(BaseType_t runs)
{
    if (!in_interrupt || runs != pdTRUE) {
        refuse("portYIELD_FROM_ISR() outside of an interrupt, or for nobody");
    }
}

BaseType_t xPortInIsrContext(void)
{
    return in_interrupt ? pdTRUE : pdFALSE;
}

SemaphoreHandle_t xSemaphoreCreateBinaryStatic(StaticSemaphore_t *memory)
{
    memory->exists = true;
    return memory;
}

BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t ticks)
{
    if (!semaphore->exists || locks != 0 || in_interrupt || ticks == 0) {
        refuse("xSemaphoreTake() in a critical section or an interrupt, or without time");
    }
    sleep_until_given();
    return pdTRUE;
}

BaseType_t xSemaphoreGiveFromISR(SemaphoreHandle_t semaphore, BaseType_t *woken)
{
    if (!semaphore->exists || !in_interrupt) {
        refuse("xSemaphoreGiveFromISR() outside of an interrupt");
    }
    *woken = pdTRUE;
    given = true;
    return pdTRUE;
}
