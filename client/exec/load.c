/* Loading executables that were saved: their modules, memory for them, and finalize, which finds their code. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/file.h"
#include "client/base/sized.h"
#include "client/exec/finalize.h"
#include "client/exec/saved_memory.h"
#include "client/exec/saved_options.h"
#include "client/module/module.h"
#include "proto/fields.h"
#include "proto/limits.h"

/* A file, and what was made of it so far. */
struct loading {
    fusion_session *session;
    const char *name;
    const void *bytes;
    size_t size;
    struct proto_message reply; /* to the request for the first module */
    fusion_module **modules;
    uint32_t n_modules;
    fusion_graph *graph;
    struct client_pool pool;
    fusion_finalize_options options;
};

static fusion_status wrong(const struct loading *l, const char *why)
{
    return client_error(FUSION_INVALID, l->name, "%s", why);
}

static fusion_status load_module(struct loading *l, struct proto_message *reply)
{
    fusion_module **place = &l->modules[l->n_modules];
    fusion_status status = client_module_load_part(l->session, l->name, l->bytes, l->size, l->n_modules, reply, place);
    if (status == FUSION_SUCCESS) l->n_modules++;
    return status;
}

/* The first one comes with what else the file has. */
static fusion_status load_modules(struct loading *l, const msgpack_object **executable)
{
    uint64_t n = 0;
    l->modules = calloc(1, sizeof *l->modules);
    if (!l->modules) return client_no_memory(l->name);
    fusion_status status = load_module(l, &l->reply);
    if (status != FUSION_SUCCESS) return status;
    *executable = proto_get(&l->reply.params, "executable");
    if (!*executable) return wrong(l, "it is a module, but no saved executable");
    if (!proto_get_uint(*executable, "modules", &n) || !n || n > PROTO_MAX_MODULES)
        return client_error(FUSION_PROTOCOL, "module.load", "the reply does not say how many modules there are");
    fusion_module **more = reallocarray(l->modules, n, sizeof *more);
    if (!more) return client_no_memory(l->name);
    l->modules = more;
    while (l->n_modules < n && status == FUSION_SUCCESS) status = load_module(l, NULL);
    return status;
}

/* ---- the graph ---- */

static fusion_status take_wire(struct loading *l, struct proto_graph *wire)
{
    fusion_graph *g = l->graph = client_graph_of_wire(l->session, wire);
    if (!g) return client_no_memory(l->name);
    for (uint32_t i = 0; i < l->n_modules && i < g->wire.n_modules; i++) g->modules[i] = l->modules[i]->id;
    return FUSION_SUCCESS;
}

static fusion_status read_graph(struct loading *l, const msgpack_object *executable)
{
    const void *bytes, *options;
    size_t size, options_size;
    struct error e;
    if (!proto_get_bytes(executable, "graph", &bytes, &size) ||
        !proto_get_bytes(executable, "options", &options, &options_size))
        return client_error(FUSION_PROTOCOL, "module.load", "the reply has no graph, or no options");
    struct proto_graph *wire = proto_graph_decode(bytes, size, &e);
    if (!wire) return client_error(FUSION_INVALID, l->name, "the saved graph: %s", e.reason);
    fusion_status status = take_wire(l, wire);
    if (status != FUSION_SUCCESS) return status;
    const struct proto_graph *w = &l->graph->wire;
    if (w->n_modules != l->n_modules)
        return client_error(FUSION_INVALID, l->name, "its graph is of %" PRIu32 " modules, but it has %" PRIu32,
                            w->n_modules, l->n_modules);
    for (uint32_t i = 0; i < w->n_nodes; i++)
        if (w->nodes[i].kind == PROTO_NODE_HOST) return wrong(l, "a node of its graph runs in another process");
    return client_saved_options_read(options, options_size, l->name, &l->pool, &l->options, l->graph);
}

/* ---- all of it ---- */

/* How it was finalized, unless the caller says. */
static fusion_status take_options(struct loading *l, const fusion_finalize_options *given)
{
    if (!given) return FUSION_SUCCESS;
    fusion_status status = client_take_finalize_options(&l->options, given);
    return status == FUSION_SUCCESS ? client_check_finalize_options(&l->options) : status;
}

static fusion_status make(struct loading *l, const fusion_finalize_options *given, fusion_exec **exec)
{
    const msgpack_object *executable = NULL;
    fusion_exec *e = NULL;
    fusion_status status = load_modules(l, &executable);
    if (status == FUSION_SUCCESS) status = read_graph(l, executable);
    if (status == FUSION_SUCCESS) status = take_options(l, given);
    if (status == FUSION_SUCCESS) status = client_saved_memory_make(l->graph);
    if (status == FUSION_SUCCESS) status = client_finalize_flat(l->graph, l->graph, &l->options, &e);
    if (status != FUSION_SUCCESS) return status;
    e->modules = client_pool_copy(&e->pool, l->modules, l->n_modules * sizeof(fusion_module *));
    if (!e->modules) {
        fusion_exec_destroy(e);
        return client_no_memory(l->name);
    }
    e->n_modules = l->n_modules;
    e->owns_memory = true;
    *exec = e;
    return FUSION_SUCCESS;
}

fusion_status fusion_exec_load(fusion_session *s, const char *name, const void *bytes, size_t size,
                               const fusion_finalize_options *options, fusion_exec **exec)
{
    struct loading l = {.session = s, .name = name ? name : "executable", .bytes = bytes, .size = size};
    fusion_status status = make(&l, options, exec);
    if (status != FUSION_SUCCESS && l.graph) client_saved_memory_drop(s, l.graph->slot_memory, l.graph->wire.n_slots);
    for (uint32_t i = 0; status != FUSION_SUCCESS && i < l.n_modules; i++) fusion_module_destroy(l.modules[i]);
    if (l.n_modules) proto_message_clear(&l.reply);
    client_graph_free(l.graph);
    client_pool_clear(&l.pool);
    free(l.modules);
    return status;
}

fusion_status fusion_exec_load_file(fusion_session *s, const char *path, const fusion_finalize_options *options,
                                    fusion_exec **exec)
{
    const char *slash = strrchr(path, '/');
    char *bytes;
    size_t size;
    fusion_status status = client_file_read(path, &bytes, &size);
    if (status != FUSION_SUCCESS) return status;
    status = fusion_exec_load(s, slash ? slash + 1 : path, bytes, size, options, exec);
    free(bytes);
    return status;
}
