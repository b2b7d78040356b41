/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before the start of each command group it is decided, under the lock, which copies its start
 * makes valid, and the decision is committed immediately: later work sees the copies as they will
 * be. `since` of a copy names the work whose start makes it valid.
 *
 * Shared memory belongs to the host or to the device at a time. If the data are valid in the host's
 * memory, the host has it.
 */
#include "data/coherence.h"

#include "base/fail.h"
#include "data/buffer_uses.h"
#include "data/coherence_commit.h"
#include "data/copy_out.h"
#include "data/domains.h"
#include "data/pass.h"
#include "data/preserved_inputs.h"
#include "data/readback_time.h"
#include "data/staging.h"
#include "port/likely.h"
#include "submission/pending.h"

/* The parameters of a look at one use. */
typedef struct sight {
    dynsel_uses *uses;
    dynsel_use *use;
    dynsel_buffer_record *record;
    dynsel_outlook *outlook;
    dynsel_error *error;
} sight;

static dynsel_status wait_for(const sight *s, uint32_t token_plus_1)
{
    s->uses->obstacle = token_plus_1;
    return DYNSEL_E_AGAIN;
}

/* Makes the command wait for the event of the work. */
static void come_after(dynsel_uses *uses, uint32_t token)
{
    for (uint32_t i = 0; i < uses->after_count; i++) {
        if (uses->after[i] == token) {
            return;
        }
    }
    uses->after[uses->after_count++] = token;
}

/* For work in the domain of the copy: the copy in may still be running. */
static dynsel_status look_since(const sight *s, dynsel_copy_record *copy)
{
    if (copy->since == 0) {
        return DYNSEL_OK;
    }
    switch (dynsel_stage_of(copy->since - 1)) {
    case DYNSEL_STAGE_ACCEPTED:
        return wait_for(s, copy->since);
    case DYNSEL_STAGE_STARTED:
        if (dynsel_uses_in(copy->since - 1)->undone ||
            dynsel_uses_are_preserved(dynsel_uses_in(copy->since - 1))) {
            return wait_for(s, copy->since); /* the copy in may have failed */
        }
        if (!s->uses->in_order || copy->since_on != s->uses->queue) {
            come_after(s->uses, copy->since - 1);
        } else if (s->use->reads) {
            const uint32_t before = s->uses->relies_on;
            s->uses->relies_on =
                before == 0 || before == copy->since ? copy->since : s->uses->token;
            s->use->relies_on = copy->since;
        }
        return DYNSEL_OK;
    case DYNSEL_STAGE_OVER:
    default:
        copy->since = 0;
        return DYNSEL_OK;
    }
}

/* For work in another domain: waits until the copy in has completed. */
static dynsel_status look_completed(const sight *s, dynsel_copy_record *copy)
{
    if (copy->since != 0 && dynsel_stage_of(copy->since - 1) != DYNSEL_STAGE_OVER) {
        return wait_for(s, copy->since);
    }
    copy->since = 0;
    return DYNSEL_OK;
}

/* Fails with the function, device and code of the last failed copy to the host. */
static dynsel_status fail_with_copy_out(const sight *s, const char *detail)
{
    dynsel_error *const error = s->error;
    *error = s->record->copy_out_failure;
    error->status = DYNSEL_E_DEVICE;
    error->detail = detail;
    error->buffer = s->use->token;
    if (error->function == NULL) {
        error->function = DYNSEL_TEXT("dynsel_submit_command_group");
    }
    if (error->subject == NULL) {
        error->subject = s->use->name;
    }
    return DYNSEL_E_DEVICE;
}

/* Asks the caller to begin the copy to the host. An invalid copy is only mapped. */
static dynsel_status copy_out_from(const sight *s, uint32_t domain, bool to_write)
{
    dynsel_copy_record *const copy = dynsel_copy_at(s->record, domain);
    const dynsel_status status = look_completed(s, copy);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (s->record->copy_out_refused == domain) {
        s->record->copy_out_refused = 0; /* this work fails; the next use of the data tries again */
        return fail_with_copy_out(s,
                                  DYNSEL_TEXT("the data could not be brought to the host's memory, "
                                              "and are still on the device: try again"));
    }
    const bool valid = dynsel_is_valid(&s->record->validity, domain);
    s->record->copy_out =
        (dynsel_copy_out){.state = DYNSEL_COPY_OUT_BEGINS,
                          .contents = valid,
                          .to_write = to_write,
                          .timed = valid && dynsel_readback_is_wanted(s->record, s->uses),
                          .domain = domain,
                          .own = copy->own};
    s->use->copied_out |= valid && !copy->memory.shared;
    s->outlook->copy_out = s->record;
    return DYNSEL_E_AGAIN;
}

/* The domain whose copy is the host's memory; 0: none, not allocated yet, or its device failed. */
static uint32_t sharer_of(const dynsel_buffer_record *record)
{
    const uint32_t domain = record->shared_by;
    return domain != 0 && record->copies[domain - 1].memory.native != NULL &&
                   !record->copies[domain - 1].lost
               ? domain
               : 0;
}

/* Begins the transfers that make the data valid in the host's memory. If a domain shares that
 * memory and the data come from another, the memory has to be mapped for writing first. */
static dynsel_status want_data(const sight *s, bool to_write)
{
    const uint32_t sharer = sharer_of(s->record);
    const uint32_t source = sharer != 0 && dynsel_is_valid(&s->record->validity, sharer)
                                ? sharer
                                : dynsel_first_valid_copy(&s->record->validity);
    if (source == DYNSEL_HOST_DOMAIN) {
        return fail_with_copy_out(s,
                                  DYNSEL_TEXT("the only valid copy was on a device that failed"));
    }
    if (source == sharer) {
        return copy_out_from(s, source, to_write);
    }
    if (sharer != 0) {
        dynsel_copy_record *const shared = dynsel_copy_at(s->record, sharer);
        const dynsel_status status = look_completed(s, shared);
        if (status != DYNSEL_OK) {
            return status;
        }
        if (shared->memory.mapping != DYNSEL_MAPPED_TO_WRITE) {
            return copy_out_from(s, sharer, true);
        }
    }
    return copy_out_from(s, source, false);
}

/* Waits for readers on the host, whose memory would change. */
static dynsel_status look_for_host_readers(const sight *s)
{
    dynsel_buffer_record *const record = s->record;
    if (record->host_read) {
        const uint32_t reader = dynsel_user_of(record, DYNSEL_HOST_DOMAIN);
        if (reader != 0) {
            return wait_for(s, reader);
        }
        record->host_read = false;
    }
    return DYNSEL_OK;
}

/* Waits for all readers of the host's memory. Only for a reader: a writer is ordered behind them.
 * */
static dynsel_status look_for_readers(const sight *s)
{
    dynsel_buffer_record *const record = s->record;
    for (uint32_t i = 0; i < dynsel_domain_count; i++) {
        if (i + 1 != s->uses->domain && look_completed(s, &record->copies[i]) != DYNSEL_OK) {
            return DYNSEL_E_AGAIN;
        }
    }
    return look_for_host_readers(s);
}

/* Shared memory: hands it to the device. */
static dynsel_status look_at_shared(const sight *s, dynsel_copy_record *copy, bool need)
{
    const uint8_t mapping = copy->memory.mapping;
    if (!need &&
        (mapping == DYNSEL_UNMAPPED || (mapping == DYNSEL_MAPPED_TO_READ && !s->use->writes))) {
        return DYNSEL_OK;
    }
    s->use->copy_in = true;
    /* even contents that are not read are kept, in case the command does not begin */
    s->use->contents = s->use->reads || dynsel_is_valid(&s->record->validity, DYNSEL_HOST_DOMAIN) ||
                       dynsel_is_valid(&s->record->validity, s->uses->domain);
    return s->use->writes ? DYNSEL_OK : look_for_readers(s);
}

/* Asks the caller to free the memory of a lost copy. */
static dynsel_status free_lost(const sight *s)
{
    const uint32_t user = dynsel_user_of(s->record, s->uses->domain);
    if (user != 0) {
        return wait_for(s, user);
    }
    s->record->copy_out = (dynsel_copy_out){
        .state = DYNSEL_COPY_OUT_BEGINS, .gives_up = true, .domain = s->uses->domain};
    s->outlook->copy_out = s->record;
    return DYNSEL_E_AGAIN;
}

/* Waits for the work whose start determines whether a domain shares the host's memory. */
static dynsel_status look_for_sharer(const sight *s)
{
    const uint32_t sharer = s->record->shared_by;
    if (sharer == 0 || dynsel_copy_at(s->record, sharer)->memory.native != NULL) {
        return DYNSEL_OK;
    }
    return wait_for(s, dynsel_copy_at(s->record, sharer)->since);
}

/* Before sharing: waits for readers of the host's memory. If devices of the domain did not share
 * before, or an open host accessor reads, the device gets memory of its own instead. */
static dynsel_status look_for_sharing(const sight *s)
{
    const uint32_t obstacle = s->uses->obstacle;
    if (look_for_readers(s) == DYNSEL_OK) {
        return DYNSEL_OK;
    }
    const bool ends = dynsel_uses_in(s->uses->obstacle - 1)->opener == 0;
    if (ends && dynsel_domains[s->uses->domain - 1].shares) {
        return DYNSEL_E_AGAIN;
    }
    s->uses->obstacle = obstacle;
    s->use->may_share = false;
    return DYNSEL_OK;
}

static dynsel_status look_for_room(const sight *s)
{
    if (s->record->bytes == 0) {
        return DYNSEL_OK; /* a buffer without elements has no copies */
    }
    const dynsel_status status = look_for_sharer(s);
    if (status != DYNSEL_OK) {
        return status;
    }
    s->use->allocate = true;
    s->use->may_share = s->record->shared_by == 0;
    s->use->copy_in = true;
    s->use->contents = s->use->reads;
    return s->use->may_share && !s->use->writes ? look_for_sharing(s) : DYNSEL_OK;
}

/* The contents are passed from a copy in another domain. All work that wrote it is over, because
 * this work depends on it; what copies data in there may not be. */
static dynsel_status look_at_pass(const sight *s, const dynsel_copy_record *copy, uint32_t source)
{
    const dynsel_status status = look_completed(s, dynsel_copy_at(s->record, source));
    s->use->allocate = copy->memory.native == NULL;
    s->use->copy_in = true;
    s->use->contents = true;
    dynsel_use_pass_from(s->use, source);
    return status;
}

static DYNSEL_ASIDE dynsel_status look_on_device(const sight *s, dynsel_copy_record *copy)
{
    s->use->copy_out_ended = dynsel_copy_out_look(s->record);
    const bool valid = dynsel_is_valid(&s->record->validity, s->uses->domain);
    if (s->record->copy_out.state != DYNSEL_NO_COPY_OUT &&
        (s->use->writes || !valid || copy->memory.shared ||
         dynsel_is_wanted_on_host(s->uses, s->use))) {
        return DYNSEL_E_AGAIN; /* only a reader of its own copy may run during a copy to the host */
    }
    dynsel_status status = look_since(s, copy);
    if (status == DYNSEL_OK && copy->lost) {
        status = free_lost(s);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    const bool need = s->use->reads && !valid;
    if ((need || dynsel_is_wanted_on_host(s->uses, s->use)) &&
        !dynsel_is_valid(&s->record->validity, DYNSEL_HOST_DOMAIN)) {
        const uint32_t source = dynsel_pass_find_source(s->uses, s->use);
        return source != DYNSEL_HOST_DOMAIN ? look_at_pass(s, copy, source)
                                            : want_data(s, dynsel_is_put_back(s->uses, s->use));
    }
    if (copy->memory.native == NULL) {
        return look_for_room(s);
    }
    if (copy->memory.shared) {
        return look_at_shared(s, copy, need);
    }
    s->use->copy_in = need || copy->raw;
    s->use->contents = need;
    return need ? look_for_sharer(s) : DYNSEL_OK;
}

static DYNSEL_ASIDE dynsel_status look_closely_on_host(const sight *s)
{
    s->use->copy_out_ended = dynsel_copy_out_look(s->record);
    if (s->record->copy_out.state != DYNSEL_NO_COPY_OUT) {
        return DYNSEL_E_AGAIN;
    }
    const bool writes = s->use->writes;
    if (s->use->reads && !dynsel_is_valid(&s->record->validity, DYNSEL_HOST_DOMAIN)) {
        return want_data(s, writes);
    }
    dynsel_status status = look_for_sharer(s);
    const uint32_t sharer = sharer_of(s->record);
    if (status != DYNSEL_OK || sharer == 0) {
        return status;
    }
    dynsel_copy_record *const copy = dynsel_copy_at(s->record, sharer);
    status = look_completed(s, copy);
    if (status != DYNSEL_OK) {
        return status;
    }
    const uint8_t least = writes ? DYNSEL_MAPPED_TO_WRITE : DYNSEL_MAPPED_TO_READ;
    if (copy->memory.mapping >= least) {
        return DYNSEL_OK;
    }
    /* a writer on the same worker may be ordered behind readers that are not over */
    const dynsel_status readers = look_for_host_readers(s);
    return readers == DYNSEL_OK ? copy_out_from(s, sharer, writes) : readers;
}

static inline dynsel_status look_on_host(const sight *s)
{
    const dynsel_buffer_record *const record = s->record;
    const bool is_plain =
        record->shared_by == 0 && record->copy_out.state == DYNSEL_NO_COPY_OUT &&
        (dynsel_is_valid(&record->validity, DYNSEL_HOST_DOMAIN) || !s->use->reads);
    return DYNSEL_LIKELY(is_plain) ? DYNSEL_OK : look_closely_on_host(s);
}

/* Begins all copies to the host before waiting for any of them. */
dynsel_outlook dynsel_coherence_look(dynsel_uses *uses, dynsel_error *error)
{
    dynsel_outlook outlook = {.status = DYNSEL_OK};
    uses->obstacle = 0;
    uses->relies_on = 0;
    uses->resident = false;
    for (uint32_t i = 0; i < uses->count; i++) {
        dynsel_use *const use = &uses->each[i];
        const sight s = {uses, use, use->record, &outlook, error};
        dynsel_use_reset(use);
        dynsel_use_pass_from(use, DYNSEL_HOST_DOMAIN);
        use->copied_in = false;
        const dynsel_status status =
            uses->domain == DYNSEL_HOST_DOMAIN
                ? look_on_host(&s)
                : look_on_device(&s, dynsel_copy_at(use->record, uses->domain));
        if (status != DYNSEL_OK) {
            outlook.status = status;
        }
        if (outlook.copy_out != NULL || (status != DYNSEL_OK && status != DYNSEL_E_AGAIN)) {
            break;
        }
    }
    if (outlook.status == DYNSEL_OK) {
        outlook.status = dynsel_staging_take(uses);
    }
    if (outlook.status == DYNSEL_OK) {
        dynsel_inputs_prepare(uses);
        dynsel_coherence_commit(uses);
    }
    return outlook;
}

#if CONFIG_DYNSEL_REPEAT
dynsel_outlook dynsel_coherence_put_back(dynsel_uses *uses)
{
    dynsel_outlook outlook = {.status = DYNSEL_OK};
    dynsel_error error;
    for (uint32_t i = 0; i < uses->count && outlook.copy_out == NULL; i++) {
        dynsel_use *const use = &uses->each[i];
        if (!dynsel_is_put_back(uses, use) || !dynsel_buffer_is(use->record, use->token)) {
            continue;
        }
        const sight s = {uses, use, use->record, &outlook, &error};
        const dynsel_status status = look_on_host(&s);
        const uint32_t sharer = use->record->shared_by;
        if (status == DYNSEL_E_AGAIN) {
            outlook.status = status;
        } else if (status == DYNSEL_OK ||
                   (sharer != 0 && dynsel_copy_at(use->record, sharer)->lost)) {
            dynsel_inputs_put_back(uses, i); /* what a lost device shared is the host's */
        } else {
            dynsel_inputs_abandon(use);
        }
    }
    return outlook;
}
#endif

bool dynsel_coherence_find_dependency(const dynsel_uses *uses, uint32_t *token)
{
    *token = uses->obstacle - 1;
    return uses->obstacle != 0 && dynsel_stage_of(*token) != DYNSEL_STAGE_OVER;
}

bool dynsel_coherence_would_move(const dynsel_buffer_record *record, uint32_t domain, bool is_host)
{
    if (domain == DYNSEL_HOST_DOMAIN && !is_host) {
        return true;
    }
    if (domain == DYNSEL_HOST_DOMAIN) {
        const uint32_t sharer = record->shared_by;
        return !dynsel_is_valid(&record->validity, DYNSEL_HOST_DOMAIN) &&
               (sharer == 0 || !dynsel_is_valid(&record->validity, sharer));
    }
    const dynsel_copy_record *const copy = &record->copies[domain - 1];
    const bool shares = copy->memory.native != NULL
                            ? record->shared_by == domain
                            : record->shared_by == 0 && dynsel_domains[domain - 1].shares;
    return !dynsel_is_valid(&record->validity, domain) &&
           !(shares && dynsel_is_valid(&record->validity, DYNSEL_HOST_DOMAIN));
}
