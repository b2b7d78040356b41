/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_RTOS_ESP_IDF_ESP_TIMER_H
#define TESTS_RTOS_ESP_IDF_ESP_TIMER_H

#include <stdint.h>

int64_t esp_timer_get_time(void);

#endif
