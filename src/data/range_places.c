/* SPDX-License-Identifier: Apache-2.0 */
#include "data/range_places.h"

#include "data/staging.h"

bool dynsel_ranges_may_be_staged(const dynsel_handler *group, const dynsel_memory_ops *memory)
{
    return group->only_on_host == NULL && memory->write_back != NULL &&
           dynsel_staging_need_of(group) == DYNSEL_STAGING_FITS;
}

static dynsel_status refuse_function(const dynsel_handler *group, const char *function)
{
    (void)group; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)function;
    return dynsel_fail(&(dynsel_error){
        .status = DYNSEL_E_UNSUPPORTED,
        .function = DYNSEL_TEXT(function),
        .subject = DYNSEL_TEXT(group->only_on_host),
        .detail = DYNSEL_TEXT("a range is transformed by it, and it has no form in OpenCL C: "
                              "declare it with DYNSEL_TRANSFORM_ITERATOR, or give the policy a "
                              "resource of the host, and the kernel a C function"),
    });
}

dynsel_status dynsel_ranges_refuse(const dynsel_handler *group, const char *function)
{
    (void)function;
    if (group->only_on_host != NULL) {
        return refuse_function(group, function);
    }
    switch (dynsel_staging_need_of(group)) {
    case DYNSEL_STAGING_TOO_MANY:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_FULL,
                              "its ranges need more than the {} staging buffers that there are: "
                              "raise CONFIG_DYNSEL_STAGING_COUNT, or let the host do the work",
                              CONFIG_DYNSEL_STAGING_COUNT);
    case DYNSEL_STAGING_TOO_LARGE:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_FULL,
                              "its ranges need more than the {} bytes of staging memory that there "
                              "are: raise CONFIG_DYNSEL_STAGING_BYTES, or let the host do the work",
                              CONFIG_DYNSEL_STAGING_BYTES);
    case DYNSEL_STAGING_FITS:
    default:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_UNSUPPORTED,
                              "a range cannot be staged: the backend has no `write_back`", 0);
    }
}
