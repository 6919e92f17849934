/* What an executable was made of. */
#include "client/exec/source.h"

#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"

/* ---- kept ---- */

static const struct value_bytes *copy_values(struct client_pool *pool, const fusion_graph *g)
{
    struct value_bytes *values = client_pool_array(pool, g->wire.n_values, sizeof *values);
    for (uint32_t i = 0; values && i < g->wire.n_values; i++) {
        values[i] = g->values[i];
        values[i].data = client_pool_copy(pool, g->values[i].data, g->values[i].size);
    }
    return values;
}

fusion_status client_source_keep(fusion_exec *e, const fusion_graph *flat, const fusion_finalize_options *options)
{
    struct client_pool *pool = &e->pool;
    struct exec_source *source = client_pool_array(pool, 1, sizeof *source);
    size_t size;
    uint8_t *bytes = source ? proto_graph_encode(&flat->wire, &size) : NULL;
    if (!bytes) return client_no_memory("graph");
    const char *device = options->device ? options->device : "cpu";
    *source = (struct exec_source){.graph = client_pool_copy(pool, bytes, size),
                                   .graph_size = size,
                                   .n_modules = flat->wire.n_modules,
                                   .n_values = flat->wire.n_values,
                                   .options = *options};
    free(bytes);
    source->modules = client_pool_copy(pool, flat->modules, source->n_modules * sizeof *source->modules);
    source->values = copy_values(pool, flat);
    source->options.device = client_pool_text(pool, device, strlen(device));
    if (options->tuning) source->options.tuning = client_pool_text(pool, options->tuning, strlen(options->tuning));
    e->source = source;
    return pool->failed ? client_no_memory("graph") : FUSION_SUCCESS;
}

/* ---- asked for ---- */

static void pack_ids(struct proto_writer *w, const char *key, const uint64_t *ids, uint32_t n)
{
    proto_pack_key(w, key);
    msgpack_pack_array(&w->packer, n);
    for (uint32_t i = 0; i < n; i++) msgpack_pack_uint64(&w->packer, ids[i]);
}

static void pack_values(struct proto_writer *w, const struct exec_source *s)
{
    proto_pack_key(w, "values");
    msgpack_pack_array(&w->packer, s->n_values);
    for (uint32_t i = 0; i < s->n_values; i++) {
        msgpack_pack_bin(&w->packer, s->values[i].size);
        msgpack_pack_bin_body(&w->packer, s->values[i].data, s->values[i].size);
    }
}

void client_pack_finalize(struct proto_writer *w, const void *params)
{
    const struct finalize_params *p = params;
    const struct exec_source *s = p->source;
    const fusion_finalize_options *o = &s->options;
    proto_pack_map(w, 14 + (p->save != NULL) + (o->tuning ? 2 : 0));
    proto_pack_bytes(w, "graph", s->graph, s->graph_size);
    pack_ids(w, "modules", s->modules, s->n_modules);
    proto_pack_uint(w, "mode", o->mode);
    proto_pack_bool(w, "insert_barriers", o->insert_barriers);
    proto_pack_uint(w, "barriers", o->barriers);
    proto_pack_string(w, "device", o->device);
    proto_pack_bool(w, "keep_ir", o->keep_ir);
    proto_pack_bool(w, "keep_assembly", o->keep_assembly);
    proto_pack_bool(w, "debug", o->debug);
    proto_pack_bool(w, "bounds", o->bounds);
    proto_pack_uint(w, "tier", o->tier);
    pack_ids(w, "bindings", p->bindings, p->n_bindings);
    pack_values(w, s);
    pack_ids(w, "pipes", p->rings.numbers, p->rings.n);
    if (o->tuning) {
        proto_pack_string(w, "tuning", o->tuning);
        proto_pack_bool(w, "keep_tuning", o->keep_tuning);
    }
    if (p->save) proto_pack_bytes(w, "save", p->save, p->save_size);
}
