/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first example of the specification of dynamic selection: six tasks, each on the resource with
 * the least work. Where the queue is one of OpenCL the task enqueues an empty command, as the
 * specification's does, and returns its event; on the host it is done when it returns.
 */
#include "program.hpp"

namespace ex = dynsel;

static ex::status run_tasks()
{
    // (1) create a policy object: over the devices of this machine, or else the host
    static ex::dynamic_load_policy p;

    for (int i = 0; i < 6; ++i) {
        // (2) call one of the dynamic selection functions
        //     -- pass the policy to the API function
        //     -- provide a function to be called with a selected resource
        auto done = ex::submit(p, [=](ex::resource q) -> ex::result<cl_event> {
            // (3) use the selected resource in the user function
            std::printf("task %d is submitted to %s\n", i, q.name());
            cl_event event = nullptr;
            if (q.backend() == &dynsel_opencl_backend) {
                const cl_int code = clEnqueueMarkerWithWaitList(q.queue(), 0, nullptr, &event);
                if (code != CL_SUCCESS) {
                    return dynsel_opencl_check("clEnqueueMarkerWithWaitList", code);
                }
            }
            return event;
        });

        // (4) each submission can be waited on using the returned object
        if (const ex::status status = ex::wait(done); !status.ok()) {
            return status;
        }
    }

    // (5) and/or all submissions can be waited on as a group
    return ex::wait(p.get_submission_group());
}

int main(int argc, char **argv)
{
    program_takes_nothing(argc, argv, "dynamic_selection",
                          "Runs six tasks, each where the least is to do.\n");
    return program_ends("dynamic_selection", run_tasks());
}
