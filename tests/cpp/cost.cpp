/* SPDX-License-Identifier: Apache-2.0 */
/* The same work submitted through C and through C++: test_cost.py counts the instructions of each
 * of these functions. */
#include <dynsel/dynsel.hpp>

#define COUNTED extern "C" __attribute__((noinline))

enum { ROUNDS = 1000 };

static dynsel::fixed_resource_policy p{{{&dynsel_inline_backend, nullptr}}};
static int count;

static void check(bool good)
{
    if (!good) {
        __builtin_trap();
    }
}

static dynsel_status add(const dynsel_resource *, void *args, dynsel_event *)
{
    *static_cast<int *>(args) += 1;
    return DYNSEL_OK;
}

/* The same as a callable. */
static auto adding(int *to)
{
    return [to](dynsel::resource) { *to += 1; };
}

COUNTED void submit_in_c()
{
    for (int i = 0; i < ROUNDS; i++) {
        dynsel_submission s;
        check(dynsel_submit(p.native(), &DYNSEL_TASK(add, &count), &s) == DYNSEL_OK);
        check(dynsel_wait(&s) == DYNSEL_OK);
    }
}

COUNTED void submit_in_cpp()
{
    for (int i = 0; i < ROUNDS; i++) {
        auto s = dynsel::submit(p, adding(&count));
        check(dynsel::wait(s).ok());
    }
}

COUNTED void submit_and_wait_in_c()
{
    for (int i = 0; i < ROUNDS; i++) {
        check(dynsel_submit_and_wait(p.native(), &DYNSEL_TASK(add, &count)) == DYNSEL_OK);
    }
}

COUNTED void submit_and_wait_in_cpp()
{
    for (int i = 0; i < ROUNDS; i++) {
        check(dynsel::submit_and_wait(p, adding(&count)).ok());
    }
}

COUNTED void detach_in_c()
{
    for (int i = 0; i < ROUNDS; i++) {
        check(dynsel_submit(p.native(), &DYNSEL_TASK(add, &count), nullptr) == DYNSEL_OK);
    }
}

COUNTED void detach_in_cpp()
{
    auto kept = adding(&count);
    for (int i = 0; i < ROUNDS; i++) {
        check(dynsel::submit_detached(p, dynsel::ref(kept)).ok());
    }
}

int main()
{
    submit_in_c();
    submit_in_cpp();
    submit_and_wait_in_c();
    submit_and_wait_in_cpp();
    detach_in_c();
    detach_in_cpp();
    return count == 6 * ROUNDS ? 0 : 1;
}
