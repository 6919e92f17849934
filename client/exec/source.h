/* What an executable was made of: it is asked for with that, and again where it is to be saved. */
#pragma once

#include "client/exec/exec.h"
#include "client/module/pipe.h"
#include "proto/writer.h"

struct exec_source {
    const uint8_t *graph; /* as it goes over the wire */
    size_t graph_size;
    uint32_t n_modules, n_values;
    const uint64_t *modules;          /* ids */
    const struct value_bytes *values; /* what they are unless a submission says otherwise */
    fusion_finalize_options options;
};

/* Of the graph that goes to the service, into the executable's pool. */
fusion_status client_source_keep(fusion_exec *e, const fusion_graph *flat, const fusion_finalize_options *options);

/* The params of graph.finalize. */
struct finalize_params {
    const struct exec_source *source;
    const uint64_t *bindings; /* ids of memory */
    uint32_t n_bindings;
    struct pipe_rings rings;
    const uint8_t *save; /* what is to be saved with it (saved_options.h); NULL: it is to be loaded */
    size_t save_size;
};
void client_pack_finalize(struct proto_writer *w, const void *params);
