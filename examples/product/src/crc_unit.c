/* SPDX-License-Identifier: Apache-2.0 */
#include <acme/crc_unit.h>

/* The unit is so fast that its work is complete when the task function returns. */
static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static const char *resource_name(dynsel_backend *backend, const void *handle)
{
    (void)backend;
    return ((const acme_crc_unit *)handle)->name;
}

#if CONFIG_DYNSEL_ASPECTS
/* As boards/targets.yaml recognizes it. */
static dynsel_status describe(dynsel_backend *backend, const void *handle, dynsel_device *device)
{
    (void)backend;
    (void)handle;
    device->vendor = "Acme";
    device->type = "accelerator";
#if CONFIG_DYNSEL_ASPECT_ACCELERATOR
    device->aspects = DYNSEL_ASPECT_BIT(accelerator);
#endif
    return DYNSEL_OK;
}
#endif

static const dynsel_backend_ops crc_ops = {
    .name = "acme_crc_unit",
    .only_calls = true,
    .start = start,
    .resource_name = resource_name,
#if CONFIG_DYNSEL_ASPECTS
    .describe = describe,
#endif
};

dynsel_backend acme_crc_backend = {&crc_ops};

uint32_t acme_crc_run(acme_crc_unit *unit, const void *data, size_t bytes)
{
    const uint8_t *byte = data;
    uint32_t crc = UINT32_MAX;
    unit->runs++;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= byte[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? UINT32_C(0xedb88320) : 0);
        }
    }
    return ~crc;
}
