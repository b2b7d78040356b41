/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_RTOS_ZEPHYR_INIT_H
#define TESTS_RTOS_ZEPHYR_INIT_H

#define CONFIG_APPLICATION_INIT_PRIORITY 90

#define SYS_INIT(function, level, priority)                                                        \
    __attribute__((constructor)) static void call_##function(void)                                 \
    {                                                                                              \
        (void)function();                                                                          \
    }                                                                                              \
    _Static_assert(priority > 0, "in the right order")

#endif
