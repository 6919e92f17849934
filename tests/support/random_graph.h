/* Random graphs of kernels with many kinds of access, the same for the same seed everywhere. Each is valid, and its
   kernels are free of races when they run one by one. */
#pragma once

#include "tests/support/graph_make.h"

struct random_graph_knobs {
    uint32_t least_nodes, most_nodes;
    uint32_t commands;   /* percent of the nodes that are copies, fills and host tasks */
    uint32_t properties; /* percent of the buffers that get properties; what they assert is true */
    uint32_t pieces;     /* percent of the accessors that are on a part of their buffer */
    uint32_t ranges;     /* how many different ND-ranges, 1 to 4 */
    bool barriers;       /* insert_barriers */
    uint32_t chained;    /* percent of the kernels that write a buffer which none did, and read what such ones wrote */
    bool plain;          /* kernels that touch element i alone, over one range: they fuse whatever happens */
};

/* Knobs for graphs of 2 to 40 nodes, chosen from the seed. */
struct random_graph_knobs random_graph_knobs(uint64_t seed);
struct test_graph *random_graph_new(uint64_t seed, const struct random_graph_knobs *knobs);
/* The graph in words, for failures: to be freed. */
char *random_graph_text(const struct test_graph *g);
