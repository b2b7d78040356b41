/* SPDX-License-Identifier: Apache-2.0 */
/* What the `slot` of a dynsel_submission says. */
#ifndef DYNSEL_CORE_SUBMISSION_H
#define DYNSEL_CORE_SUBMISSION_H

enum {
    DYNSEL_SUBMISSION_NONE = 0, /* zeroed: never submitted */
    DYNSEL_SUBMISSION_COMPLETE =
        1, /* complete when the submit returned, the result is in the handle */
    DYNSEL_SUBMISSION_COLLECTED = 2, /* that result was collected */
    DYNSEL_SUBMISSION_IN_SLOT = 3    /* this and above: 2 + the number of the slot */
};

#endif
