/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The list as one JSON document. Members are added when there is more to tell, and none changes its
 * meaning; `format` counts up if one ever must.
 *
 *     format             1
 *     configuration      the hash of the configuration that this program was built with
 *     selector           what chooses among the OpenCL devices; null: all are chosen
 *     selector_from      "--device" or "DYNSEL_OPENCL", or null
 *     aspects            the names of all aspects of this configuration
 *     targets            all targets of the table:
 *       name               as in boards/targets.yaml
 *       in_build           whether this configuration chose it
 *       aspects            what it promises
 *       may_support_other_aspects
 *     resources          what work can run on, the host first:
 *       kind               "host", "workers", "opencl", or "rank": of another process of an MPI
 *                          program, which tells its texts and aspects only
 *       rank               the process that has it
 *       index              the number for `--device <index>`, or null
 *       chosen             whether the selector chooses it
 *       verdict            "chosen", "not_selected", "duplicate", "emulator", "unavailable",
 *                          "lost", "too_old"
 *       reason             the same in words; may be empty
 *       accepted           whether policies take it: a target of this build recognizes it, and it
 *                          breaks none of the promises
 *       target             its target (name, in_build), one of this build's if any recognizes it,
 *                          else one of the table's; or null
 *       nearer_target      the name of a target of the table that says more, and is not in this
 *                          build; or null
 *       hint               what to do about it; may be empty
 *       aspects            all that the driver says, and how they compare with `target`: promised
 *                          (and there), extra (there, and not promised), broken (promised, and not
 *                          there); hidden: there, but programs are not told of them, because no
 *                          target of this build may have them
 *       backend, platform, vendor, type, name, driver_version, opencl_version, opencl_c_version
 *                          as the driver says them; may be empty
 *       workers            how many threads it stands for, of kind "workers"; else 0
 *       compute_units      of the host: its processors
 *       memory             domain ("host", or a number as text; null: none), shares_host_memory,
 *                          and in bytes size, max_allocation, local; 0: not known
 *       queue              in_order, out_of_order, profiling
 *       svm                coarse_grain_buffer, fine_grain_buffer, fine_grain_system, atomics
 *       sub_group_sizes    ascending; empty: not known
 *       times              of chosen OpenCL devices: by, what times work on it ("profile",
 *                          "callback", or null: not known), and the reason; else null
 *     empty_platforms    OpenCL platforms without a device: name, reason
 *     note               why there is no OpenCL device, and the remedy; or null
 *     problem            what could not be listed, and why; or null
 */
#ifndef JSON_H
#define JSON_H

#include "info.h"

void json_print(const info_list *list);

#endif
