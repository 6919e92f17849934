/* Rows of bytes of a copy or fill. */
#pragma once

#include "fuser/graph/graph.h"

/* Bytes from the first to the last of a copy's or fill's rows. */
static inline uint64_t rows_span(const struct fuser_node *n, const struct fuser_region *r)
{
    uint64_t plane = n->plane ? n->plane : n->rows;
    return n->rows ? (n->rows / plane - 1) * r->slice_pitch + (plane - 1) * r->pitch + n->bytes : n->bytes;
}
