/* SPDX-License-Identifier: Apache-2.0 */
/* Times passes, prints them, and writes them as bench/usecases/csv.c does. */
#ifndef PEERS_STARPU_REPORT_H
#define PEERS_STARPU_REPORT_H

#include "starpu_peer.h"

typedef struct peer_work {
    void (*before)(void); /* not timed; may be NULL */
    void (*run)(void);    /* one pass, until the results are in the host's memory */
    void (*after)(void);  /* not timed: checks; may be NULL */
    const char *name;     /* for the CSV file */
    const char *unit;     /* of `units`: "GB" */
    double units;         /* in one pass */
} peer_work;

/* Prints the lines about the machine, and begins the CSV file. After peer_start(). */
void peer_report_open(const peer_options *options, int argc, char **argv);

/* Runs and times the passes; prints each, the total and the median rate. */
void peer_measure(const peer_work *work, uint64_t passes);

/* Ends the CSV file. A write error ends the program. */
void peer_report_close(void);

#endif
