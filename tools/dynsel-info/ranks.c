/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect.h"
#include "log.h"

/* Where launchers tell a process its rank. Without a launcher MPI is left alone: it takes longer to
 * begin than the whole list. */
static const char *const rank_variables[] = {
#if CONFIG_DYNSEL_MPI_OPENMPI
    "OMPI_COMM_WORLD_RANK",
#else
    "PMI_RANK",
#endif
    "PMIX_RANK",
};

/* Nothing but the list waits for them: so machines that are slow to begin are not left out. */
static const dynsel_mpi_options patient = {.silence_ns = UINT64_C(60000000000)};

static bool is_open;

static const char *launchers_rank(void)
{
    for (size_t i = 0; i < sizeof rank_variables / sizeof *rank_variables; i++) {
        const char *rank = getenv(rank_variables[i]);
        if (rank != NULL) {
            return rank;
        }
    }
    return NULL;
}

static int fail(const char *what)
{
    char text[512];

    (void)dynsel_error_text(NULL, text, sizeof text);
    log_error("%s: %s", what, text);
    return EXIT_FAILURE;
}

bool ranks_have_launcher(void)
{
    return launchers_rank() != NULL;
}

bool ranks_is_other(void)
{
    const char *rank = launchers_rank();

    return rank != NULL && strcmp(rank, "0") != 0;
}

int ranks_begin(void)
{
    if (!ranks_have_launcher()) {
        return EXIT_SUCCESS;
    }
    if (dynsel_mpi_open(&patient) != DYNSEL_OK) {
        return fail("the ranks cannot be connected");
    }
    is_open = true;
    return EXIT_SUCCESS;
}

int ranks_serve(void)
{
    return dynsel_mpi_serve() == DYNSEL_OK ? EXIT_SUCCESS : fail("a rank cannot serve");
}

static bool add_resource(info_list *list, const dynsel_resource *resource)
{
    info_entry *entry = collect_entry(list, INFO_RANK);

    if (entry == NULL || !collect_describe(entry, resource)) {
        return false;
    }
    entry->chosen = true;
    entry->verdict = "chosen";
    entry->resource = *resource;
    entry->rank = dynsel_mpi_rank_of(resource);
    return true;
}

void ranks_collect(info_list *list)
{
    static dynsel_resource resources[INFO_MOST_OF_RANKS];
    size_t count = 0;

    if (!is_open) {
        return;
    }
    bool good = dynsel_mpi_resources(0, resources, INFO_MOST_OF_RANKS, &count) == DYNSEL_OK;
    for (size_t i = 0; good && i < count; i++) {
        good = add_resource(list, &resources[i]);
    }
    if (!good) {
        collect_keep_problem(list, "the resources of other ranks cannot be listed");
    }
}

bool ranks_end(void)
{
    if (!is_open) {
        return true;
    }
    is_open = false;
    return dynsel_mpi_close() == DYNSEL_OK || fail("the ranks cannot be ended") == EXIT_SUCCESS;
}
