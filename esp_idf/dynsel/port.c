/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port for ESP-IDF 5.0 and later. One task calls the library; it sleeps in its wait until an
 * interrupt has completed work, and other tasks run meanwhile. An interrupt that completes work must
 * not run while the cache is off: register it without ESP_INTR_FLAG_IRAM.
 */
#include <dynsel/port.h>

#include <stddef.h>

#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/semphr.h"

static portMUX_TYPE mux = portMUX_INITIALIZER_UNLOCKED;
static volatile bool sleeps;
static SemaphoreHandle_t woken;

/* Before the first task, so that no interrupt comes too early. */
__attribute__((constructor)) static void create_semaphore(void)
{
    static StaticSemaphore_t memory;
    woken = xSemaphoreCreateBinaryStatic(&memory);
}

uint64_t dynsel_now_ns(void)
{
    return (uint64_t)esp_timer_get_time() * 1000u + 1u;
}

uint32_t dynsel_port_enter_critical(void)
{
    portENTER_CRITICAL_SAFE(&mux);
    return 0;
}

/* An interrupt that changed something ends the sleep; one that changed nothing of the library does not. */
void dynsel_port_leave_critical(uint32_t before)
{
    (void)before;
    portEXIT_CRITICAL_SAFE(&mux);
    if (sleeps && xPortInIsrContext()) {
        BaseType_t runs = pdFALSE;
        (void)xSemaphoreGiveFromISR(woken, &runs);
        portYIELD_FROM_ISR(runs);
    }
}

bool dynsel_port_in_interrupt(void)
{
    return xPortInIsrContext();
}

/* A task must not block in a critical section. What completes work before the sleep leaves the semaphore given. */
void dynsel_port_wait_for_event(uint64_t longest_ns)
{
    const uint64_t ns_per_tick = 1000000000 / configTICK_RATE_HZ;
    const uint64_t ticks = longest_ns / ns_per_tick + 1;
    sleeps = true;
    portEXIT_CRITICAL(&mux);
    (void)xSemaphoreTake(woken, ticks < portMAX_DELAY ? (TickType_t)ticks : portMAX_DELAY);
    portENTER_CRITICAL(&mux);
    sleeps = false;
}
