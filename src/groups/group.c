/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/group.h"

dynsel_handler dynsel_groups[CONFIG_DYNSEL_MAX_IN_FLIGHT];

static inline void begin_command(dynsel_command *command)
{
    command->kind = DYNSEL_COMMAND_NONE;
    command->kernel = NULL;
    command->launch.where = NULL;
    command->launch.global.dimensions = 0;
    command->launch.local.dimensions = 0;
    command->launch.offset = (dynsel_range){.dimensions = 0};
    command->from = NULL;
    command->to = NULL;
    command->element = NULL;
    command->after = NULL;
    command->after_count = 0;
}

/* What counts and flags do not cover is written before it is read: most of it is never touched.
 * What is the lock's is written when the command group gets its place (src/groups/place.c). */
void dynsel_group_begin(dynsel_handler *group, uint32_t token, dynsel_group_fn function)
{
    group->open = true;
    group->unsettled = false;
    group->has_pointers = false;
    group->token = token + 1;
    group->error.status = DYNSEL_OK;
    group->function = function;
    group->id = 0;
    group->key_word_count = 0;
#if CONFIG_DYNSEL_ASPECTS
    group->aspects = 0;
#endif
    group->bound_count = 0;
    group->use_count = 0;
    group->argument_count = 0;
    group->value_bytes = 0;
    group->staged_count = 0;
    group->only_on_host = NULL;
    group->host_range_count = 0;
    group->direct_bytes = 0;
    group->bytes = (dynsel_range_bytes){.staged_in = 0};
    group->host_task = NULL;
    begin_command(&group->command);
}
