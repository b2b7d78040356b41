/* SPDX-License-Identifier: Apache-2.0 */
/** The cases of a command line of what-if. */
#ifndef CASES_H
#define CASES_H

#include "play.h"

enum {
    CASES_MOST = 64,
    CASE_AS_RECORDED = 0, /**< the first two are always there */
    CASE_ANEW = 1
};

typedef struct cases {
    const char *file;
    uint32_t policy;      /**< the number of the played one; 0: the first of the library */
    const char *csv_path; /**< NULL: none */
    uint32_t count;
    play_case list[CASES_MOST];
} cases;

/** What does not depend on the file: its name, the policy, the outputs. Returns 0, or EXIT_WRONG
 * after one line. */
int cases_begin(int count, char **words, cases *it);

/** The cases, for a recording. As cases_begin(). */
int cases_take(int count, char **words, const recorded_policy *policy, cases *it);

#endif
