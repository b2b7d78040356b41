/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_RTOS_ESP_IDF_SEMPHR_H
#define TESTS_RTOS_ESP_IDF_SEMPHR_H

#include "freertos/FreeRTOS.h"

typedef struct {
    bool exists;
} StaticSemaphore_t;
typedef StaticSemaphore_t *SemaphoreHandle_t;

SemaphoreHandle_t xSemaphoreCreateBinaryStatic(StaticSemaphore_t *memory);
BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t ticks);
BaseType_t xSemaphoreGiveFromISR(SemaphoreHandle_t semaphore, BaseType_t *woken);

#endif
