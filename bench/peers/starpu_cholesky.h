/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a tiled Cholesky factorization. Their value: the rows of a tile. */
#ifndef PEERS_STARPU_CHOLESKY_H
#define PEERS_STARPU_CHOLESKY_H

#include "starpu_peer.h"

typedef enum cholesky_kind {
    CHOLESKY_POTRF, /* a; in one work-group */
    CHOLESKY_TRSM,  /* x, l; a work-item for each row */
    CHOLESKY_SYRK,  /* a, x; a work-item for each element, as in GEMM */
    CHOLESKY_GEMM,  /* a, x, y */
    CHOLESKY_KINDS
} cholesky_kind;

extern peer_kernel cholesky_kernels[CHOLESKY_KINDS];

#endif
