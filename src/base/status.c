/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/status.h>

#include <stddef.h>

typedef struct status_entry {
    dynsel_status status;
    const char *name;
    const char *text;
} status_entry;

static const status_entry entries[] = {
#define STATUS_ENTRY(name_, value_, text_) {name_, #name_, text_},
    DYNSEL_STATUS_LIST(STATUS_ENTRY)
#undef STATUS_ENTRY
};

static const status_entry users = {DYNSEL_E_USER, "DYNSEL_E_USER", "the application's own status"};
static const status_entry unknown = {DYNSEL_OK, "unknown status", "unknown status"};

static const status_entry *find(dynsel_status status)
{
    if ((int)status <= (int)DYNSEL_E_USER) {
        return &users;
    }
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (entries[i].status == status) {
            return &entries[i];
        }
    }
    return &unknown;
}

const char *dynsel_status_name(dynsel_status status)
{
    return find(status)->name;
}

const char *dynsel_status_text(dynsel_status status)
{
    return find(status)->text;
}
