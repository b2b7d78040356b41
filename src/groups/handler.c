/* SPDX-License-Identifier: Apache-2.0 */
/* What group functions have in common: their errors, and what kind of work it is. */
#include <dynsel/command_group.h>

#include "groups/recording.h"

void dynsel_call_note_failure(const dynsel_call *call)
{
    if (call->handler->error.status == DYNSEL_OK) {
        call->handler->error = dynsel_this_thread()->last_error;
    }
}

static dynsel_status fail(const dynsel_call *call, dynsel_status status, const char *detail,
                          uint32_t number)
{
    return dynsel_fail(&(dynsel_error){.status = status,
                                       .function = call->function,
                                       .subject = call->subject,
                                       .detail = detail,
                                       .number = number});
}

void dynsel_call_fail(const dynsel_call *call, dynsel_status status, const char *detail,
                      uint32_t number)
{
    (void)fail(call, status, detail, number);
    dynsel_call_note_failure(call);
}

void dynsel_call_refuse_use(const dynsel_call *call)
{
    if (call->handler == NULL || !call->handler->open) {
        (void)fail(call, DYNSEL_E_INVALID,
                   DYNSEL_TEXT("the handler is not that of a running group function"), 0);
    } else {
        (void)DYNSEL_REFUSE(call, DYNSEL_E_INVALID, "an argument is NULL");
    }
}

dynsel_status dynsel_set_key(dynsel_handler *handler, uint32_t id, const uint32_t *words,
                             size_t count)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    const dynsel_status status = dynsel_call_begin(&call, words != NULL || count == 0);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (id == 0) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID, "an id of 0 says nothing: use another");
    }
    if (count > DYNSEL_GROUP_KEY_WORDS) {
        return DYNSEL_REFUSE_NUMBER(&call, DYNSEL_E_FULL,
                                    "a command group has at most {} key words",
                                    DYNSEL_GROUP_KEY_WORDS);
    }
    handler->id = id;
    handler->key_word_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        handler->key_words[i] = words[i];
    }
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_ASPECTS
dynsel_status dynsel_need_aspects(dynsel_handler *handler, dynsel_aspect_set aspects)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    const dynsel_status status = dynsel_call_begin(&call, true);
    if (status == DYNSEL_OK) {
        handler->aspects |= aspects;
    }
    return status;
}
#endif
