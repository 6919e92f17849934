/* What a graph is made of: nodes in the form in which they go over the wire, the memory and values that they use, what
   they do in this process. */
#pragma once

#include "client/base/names.h"
#include "client/base/value_type.h"
#include "client/memory/table.h"
#include "client/module/state.h"
#include "ir/base/map.h"
#include "proto/graph.h"

enum action_kind {
    ACTION_FUNCTION,
    ACTION_READ,  /* from a slot to memory of the process */
    ACTION_WRITE, /* the other way */
    ACTION_GRAPH,
    ACTION_PIPE, /* packets of a host pipe, from or to memory of the process */
};

/* What a node of kind HOST does. */
struct graph_action {
    enum action_kind kind;
    uint32_t node;
    fusion_host_function *function;
    void *data;
    uint32_t slot; /* READ, WRITE */
    uint64_t offset, bytes;
    void *host;
    fusion_pipe *pipe; /* PIPE: n packets, from or to host */
    uint64_t n;
    int timeout_ms;
    bool waits;    /* PIPE: for what was submitted before */
    uint32_t rows; /* 0 or 1: one piece */
    uint64_t pitch, host_pitch;
    uint32_t plane; /* rows of a slice; 0: there are no slices */
    uint64_t slice_pitch, host_slice_pitch;
    fusion_graph *inner; /* GRAPH: the graph's own copy */
    fusion_finalize_options options;
    fusion_exec *exec; /* GRAPH, of an executable */
};

struct fusion_graph {
    struct client_object object;
    fusion_session *session;
    struct proto_graph wire; /* grows as nodes are added */
    uint32_t slots_capacity, values_capacity, nodes_capacity, modules_capacity;
    uint64_t *slot_memory; /* by slot: id of the memory */
    struct map slots;      /* by that */
    struct value_bytes {
        uint8_t *data;
        uint32_t size;
        struct client_value_type type; /* of the parameter that it is for */
    } * values;                        /* by value: what it is unless a submission says otherwise */
    uint64_t *modules;                 /* by wire module index: id */
    struct map module_places;          /* by that */
    struct {
        uint32_t slots, values, modules;
    } kept; /* what nodes that are there use; what one that failed has left behind goes */
    struct client_names node_names, slot_names; /* a buffer and a node may have one name */
    bool of_user;            /* who does not give one name to two buffers; when we put graphs together, that happens */
    fusion_queue *recorders; /* by next_recorder */
    uint32_t recording;      /* its number; 0: was never recorded */
    struct graph_action *actions; /* of nodes of kind HOST, sorted by node */
    uint32_t n_actions, actions_capacity;
    struct graph_outputs {
        bool declared;
        uint32_t n;
        uint64_t *memory; /* ids */
    } outputs;
    uint32_t *parent_of; /* of a graph that was flattened: node of the graph it was; else NULL */
};

fusion_graph *client_graph_new(fusion_session *s); /* one that the session does not know; NULL: no memory */
void client_graph_free(fusion_graph *g);           /* the same */
/* One whose nodes are those of a wire graph, which is taken over in any case; values, modules and memory are to be
   filled in. NULL: no memory. */
fusion_graph *client_graph_of_wire(fusion_session *s, struct proto_graph *wire);

/* Its number in the graph, where it is put if it is not there. as: what it is called there if nobody has named it; may
   be NULL. */
fusion_status client_graph_slot(fusion_graph *g, const struct memory *m, const char *as, uint32_t *slot);
fusion_status client_graph_slot_at(fusion_graph *g, const fusion_memory *place, uint64_t bytes, uint32_t *slot,
                                   uint64_t *offset);
fusion_status client_graph_value(fusion_graph *g, const void *data, uint64_t size, struct client_value_type type,
                                 uint32_t *index);
fusion_status client_graph_module(fusion_graph *g, uint64_t module, uint32_t *index);
/* What was added since is kept, or goes. */
void client_graph_keep(fusion_graph *g);
void client_graph_roll_back(fusion_graph *g);

void client_node_free(struct proto_node *n);                      /* its parts */
fusion_status client_graph_full(const char *what, uint32_t most); /* the error that says so */
