/* SPDX-License-Identifier: Apache-2.0 */
/** The policy and the devices of the command line: what several examples begin and end with. */
#ifndef COMMON_CHOICE_H
#define COMMON_CHOICE_H

#include <stdbool.h>

#include <dynsel/dynsel.h>

/** The policy that the command line asks for. about: what the program does, for --help. Ends the
 * program after --help, and with exit status 2 where the command line is wrong. */
dynsel_policy *choice_make(int argc, char **argv, const char *about);

/** Says where a command group went. */
void choice_say(const char *what, const dynsel_submission *submission);

/** Ends the policy, and says what went wrong. status: of all that was done. right: whether the
 * results are. Returns the exit status. */
int choice_end(dynsel_policy *policy, dynsel_status status, bool right);

#endif
