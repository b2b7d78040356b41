/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What drivers may answer, and what the library promises then. Nothing else in tests/faults knows
 * which codes lose a device: doc/faults.md has the rule.
 */
#ifndef DYNSEL_TESTS_FAULTS_EXPECTED_H
#define DYNSEL_TESTS_FAULTS_EXPECTED_H

#include <dynsel/status.h>

#include "faults/layer.h"

/* The codes to try with a function; 0 ends the list. whole: all of the matrix, else those that the
 * function is most likely to answer. */
const cl_int *fault_codes(fault_function function, bool whole);

/* The codes to end commands with; 0 ends the list. Those that the subset has come first. */
const cl_int *fault_end_codes(void);
bool fault_is_usual_end(cl_int code);

/* Whether failures of the function have a code: some return an address and nothing else. */
bool fault_has_code(fault_function function);

/* How many calls from the first on are tried as the begin of failures for good. */
uint32_t fault_last_for_good(cl_int code, bool whole);

/* After the fault, a device may be lost; it is lost for sure. */
bool fault_may_lose(const fault_point *point);
bool fault_must_lose(const fault_point *point);

/* Whether failures may name other things than the call: loaders without a driver answer with
 * various codes, so the library says only that there is no platform. */
bool fault_says_other(const fault_point *point);

/* Whether nothing fails at all. */
bool fault_is_survived(const fault_point *point);

/* Whether a failure that names the call and the code may have this status. */
bool fault_status_fits(const fault_point *point, dynsel_status status);

/* The same for one that names neither. */
bool fault_consequence_fits(const fault_point *point, dynsel_status status);

#endif
