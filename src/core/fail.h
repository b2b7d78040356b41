/* SPDX-License-Identifier: Apache-2.0 */
/* Failing with details: the texts vanish where CONFIG_DYNSEL_ERROR_TEXTS is off. */
#ifndef DYNSEL_CORE_FAIL_H
#define DYNSEL_CORE_FAIL_H

#include <dynsel/error.h>

#if CONFIG_DYNSEL_ERROR_TEXTS
#define DYNSEL_TEXT(text) (text)
#else
#define DYNSEL_TEXT(text) NULL
#endif

/* Fails in the function that contains it; `detail` may hold one `{}` for `number`. */
#define DYNSEL_FAIL_NUMBER(status_, detail_, number_)                                              \
    dynsel_fail(&(const dynsel_error){.status = (status_),                                         \
                                      .function = DYNSEL_TEXT(__func__),                           \
                                      .detail = DYNSEL_TEXT(detail_),                              \
                                      .number = (number_)})

#define DYNSEL_FAIL(status_, detail_) DYNSEL_FAIL_NUMBER(status_, detail_, 0)

#endif
