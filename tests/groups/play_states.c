/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs take resources out of service, and back. */
#include "groups/play_inside.h"

/* Whether resources of the backend run kernels in C. */
static bool runs_c(const dynsel_backend *backend)
{
#if CONFIG_DYNSEL_BACKEND_MPI
    if (backend == &dynsel_mpi_backend) {
        return true;
    }
#endif
    return backend->ops->memory == NULL || !play_now.world->places[0].takes_source;
}

/* Whether a resource has a form of the command. */
static bool can(const play_place *place, size_t r, const program_command *c)
{
    const bool is_host = place->policy->resources[r].backend->ops->memory == NULL;
    if ((place->only != 0 && r != place->only - 1) || (c->kind == KIND_HOST && !is_host)) {
        return false;
    }
    if (c->kind >= KIND_HOST) {
        return true;
    }
    if (c->kernel == BROKEN && !play_now.world->devices_fail) {
        return is_host;
    }
    const dynsel_kernel *kernel = &program_kernels[c->kernel];
    return runs_c(place->policy->resources[r].backend) ? kernel->function != NULL
                                                       : kernel->source != NULL;
}

/* Whether a resource that is in service, but not this one, can run the command. */
static bool can_elsewhere(unsigned number, size_t but, const program_command *c)
{
    const play_place *place = &play_now.world->places[number];
    for (size_t r = 0; r < place->policy->count; r++) {
        if (r != but && (play_now.out[number] >> r & 1u) == 0 && can(place, r, c)) {
            return true;
        }
    }
    return false;
}

dynsel_status play_refusal(const program_command *c)
{
    const play_place *place = &play_now.world->places[c->place];
    if (can_elsewhere(c->place, SIZE_MAX, c)) {
        return DYNSEL_OK;
    }
    for (size_t r = 0; r < place->policy->count; r++) {
        if (can(place, r, c)) {
            return DYNSEL_E_OUT_OF_SERVICE;
        }
    }
    return DYNSEL_E_UNSUPPORTED;
}

bool play_may_be_taken(unsigned place)
{
    bool may_be = false;
#if PLAY_STATES
    dynsel_policy *policy = play_now.world->places[place].policy;
    for (size_t r = 0; r < policy->count; r++) {
        dynsel_resource_state state = DYNSEL_RESOURCE_LOST;
        (void)play_is_status(DYNSEL_OK, dynsel_resource_get_state(policy, r, &state), "state of",
                             place);
        may_be |= state == DYNSEL_RESOURCE_ON_PROBATION;
    }
#else
    (void)place;
#endif
    return may_be;
}

#if PLAY_STATES

static void look(unsigned number, size_t r, bool is_over)
{
    dynsel_policy *policy = play_now.world->places[number].policy;
    const uint32_t bit = UINT32_C(1) << r;
    dynsel_resource_state state = DYNSEL_RESOURCE_LOST;
    (void)play_is_status(DYNSEL_OK, dynsel_resource_get_state(policy, r, &state), "state of",
                         number);
    const bool in_service =
        state == DYNSEL_RESOURCE_IN_SERVICE || state == DYNSEL_RESOURCE_ON_PROBATION;
    const bool drains = (play_now.drains[number] & bit) != 0 && !is_over;
    const bool right = (play_now.out[number] & bit) == 0 ? in_service
                       : state == DYNSEL_RESOURCE_DRAINING
                           ? drains
                           : state == DYNSEL_RESOURCE_OUT_OF_SERVICE;
    (void)holds(right, "resource %u of policy %u: %s", (unsigned)r, number,
                dynsel_resource_state_text(state));
    if (state == DYNSEL_RESOURCE_OUT_OF_SERVICE) {
        play_now.drains[number] &= ~bit;
    }
}

static void reinstate(unsigned number, size_t r)
{
    const uint32_t bit = UINT32_C(1) << r;
    const bool is_out = (play_now.out[number] & bit) != 0;
    (void)play_is_status(is_out ? DYNSEL_OK : DYNSEL_E_INVALID,
                         dynsel_resource_reinstate(play_now.world->places[number].policy, r),
                         "reinstating a resource of policy", number);
    play_now.out[number] &= ~bit;
    play_now.drains[number] &= ~bit;
}

/* Commands of the policy that only this resource in service can run, of those that are kept or of
 * the others. An empty launch is not run: it ends well with what it depends on. */
static uint64_t bound_to(unsigned number, size_t r, bool kept)
{
    uint64_t bound = 0;
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        const program_command *c = &play_now.program->commands[i];
        if (play_now.pieces[i].policy == play_now.world->places[number].policy &&
            play_now.pieces[i].kept == kept && c->place == number && c->kind != KIND_EMPTY &&
            !can_elsewhere(number, r, c)) {
            bound |= UINT64_C(1) << i;
        }
    }
    return bound;
}

static void take_out(unsigned number, size_t r, bool drain)
{
    dynsel_policy *policy = play_now.world->places[number].policy;
    const uint32_t bit = UINT32_C(1) << r;
    const uint32_t all = (uint32_t)((UINT64_C(1) << policy->count) - 1);
    const bool is_out = (play_now.out[number] & bit) != 0;
    const bool drains = (play_now.drains[number] & bit) != 0;
    const bool is_last = !is_out && (play_now.out[number] | bit) == all;
    const bool leaves = !is_out && !is_last;
    uint64_t stuck = 0;
    if (leaves) {
        if (bound_to(number, r, false) != 0) { /* how each of them ends is not told */
            play_wait_for_group(number);
        }
        stuck = bound_to(number, r, true);
    }
    const uint64_t held = stuck & play_held_up();
    const dynsel_status status =
        drain ? dynsel_resource_drain(policy, r) : dynsel_resource_retire(policy, r);
    const bool by_end = drains && !drain && status == DYNSEL_OK; /* it still drained */
    const dynsel_status expected = is_last  ? DYNSEL_E_NO_RESOURCE
                                   : leaves ? DYNSEL_OK
                                            : DYNSEL_E_OUT_OF_SERVICE;
    (void)(by_end || play_is_status(expected, status, "taking out a resource of policy", number));
    if (leaves) {
        play_now.out[number] |= bit;
        play_now.drains[number] |= drain ? bit : 0;
    } else if (by_end) {
        play_now.drains[number] &= ~bit;
    }
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        if ((stuck >> i & 1u) != 0) {
            play_collect_stuck(i, (held >> i & 1u) != 0);
        }
    }
}

void play_change_state(const program_command *c)
{
    const unsigned number = c->which % play_now.world->count;
    const play_place *place = &play_now.world->places[number];
    if (play_now.world->follows || play_now.world->devices_fail || place->policy->count > 31) {
        return;
    }
    const size_t r =
        place->only != 0 && c->salt % 2 == 0 ? place->only - 1 : c->salt / 2 % place->policy->count;
    if (c->then == THEN_REINSTATE) {
        reinstate(number, r);
    } else {
        take_out(number, r, c->then == THEN_DRAIN);
    }
    look(number, r, false);
}

void play_reinstate_all(void)
{
    for (unsigned i = 0; i < play_now.world->count; i++) {
        for (size_t r = 0; r < play_now.world->places[i].policy->count; r++) {
            if ((play_now.out[i] >> r & 1u) != 0) {
                look(i, r, true);
                reinstate(i, r);
            }
        }
    }
}

#endif
