/* SPDX-License-Identifier: Apache-2.0 */
/* What the `slot` of a dynsel_submission says. */
#ifndef DYNSEL_SUBMISSION_SUBMISSION_H
#define DYNSEL_SUBMISSION_SUBMISSION_H

enum {
    DYNSEL_SUBMISSION_NONE = 0, /* zeroed: never submitted */
    DYNSEL_SUBMISSION_COMPLETE =
        1, /* complete when the submit returned, the result is in the handle */
    DYNSEL_SUBMISSION_COLLECTED = 2, /* waited for; what the task function left is in the handle */
    DYNSEL_SUBMISSION_RELEASED = 3,  /* given up, and was complete when the submit returned */
    DYNSEL_SUBMISSION_IN_SLOT = 4    /* this and above: 3 + the number of the slot */
};

#endif
