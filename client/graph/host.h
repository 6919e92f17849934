/* Nodes that run in this process: functions, and copies to and from memory of the process. */
#pragma once

#include "client/graph/parts.h"

struct copy_2d {
    fusion_memory from, to;
    uint64_t from_pitch, to_pitch, bytes;
    uint32_t rows;
    uint32_t plane; /* rows of a slice, a slice pitch from each to the next; 0: there are no slices */
    uint64_t from_slice_pitch, to_slice_pitch;
};

/* Appends a HOST node with what it does; status as for client_graph_append(). */
fusion_status client_graph_act(fusion_graph *g, struct proto_node *n, const struct graph_action *action,
                               fusion_status status, fusion_node *node);
/* A copy where one side is memory of the process. */
fusion_status client_graph_host_copy(fusion_graph *g, const char *name, const struct copy_2d *copy,
                                     const fusion_node *deps, uint32_t n_deps, fusion_node *node);
/* What the node does here; NULL: nothing. */
struct graph_action *client_graph_action(const fusion_graph *g, uint32_t node);
/* Where row i begins: in slices of `plane` rows, or without slices. */
uint64_t client_row_at(uint32_t plane, uint64_t i, uint64_t pitch, uint64_t slice_pitch);
