/* SPDX-License-Identifier: Apache-2.0 */
/** The command what-if: the recorded program with other policies and devices. */
#ifndef WHATIF_H
#define WHATIF_H

/** count, words: what stands behind `what-if` on the command line. Returns the exit status. */
int whatif(int count, char **words);

#endif
