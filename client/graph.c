/* Building graphs: nodes are kept in the form in which they go over the wire. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/internal.h"

enum { MAX_VALUE_BYTES = PROTO_MAX_VALUE_BYTES };

static fusion_status no_memory(void)
{
    return client_error(FUSION_OUT_OF_MEMORY, "graph", "no memory");
}

/* ---- names ---- */

fusion_status client_graph_name(fusion_graph *g, const char *given, const char *base, char **name)
{
    if (!given) {
        *name = client_names_make(&g->node_names, base);
        return *name ? FUSION_SUCCESS : no_memory();
    }
    if (!*given || strlen(given) > PROTO_MAX_NAME)
        return client_error(FUSION_INVALID, "node", "a name of 1 to %d bytes is needed", PROTO_MAX_NAME);
    if (!client_names_claim(&g->node_names, given))
        return client_error(FUSION_INVALID, given, "another node of the graph has this name");
    *name = strdup(given);
    return FUSION_SUCCESS;
}

/* ---- life ---- */

static void free_node(struct proto_node *n)
{
    free(n->name);
    free(n->kernel);
    free(n->args);
    free(n->deps);
}

void client_graph_free(fusion_graph *g)
{
    if (!g) return;
    for (uint32_t i = 0; i < g->n_actions; i++) client_graph_free(g->actions[i].inner);
    free(g->actions);
    free(g->parent_of);
    for (uint32_t i = 0; i < g->wire.n_nodes; i++) free_node(&g->wire.nodes[i]);
    for (uint32_t i = 0; i < g->wire.n_slots; i++) free(g->wire.slots[i].name);
    for (uint32_t i = 0; i < g->wire.n_values; i++) free(g->values[i].data);
    free(g->wire.nodes);
    free(g->wire.slots);
    free(g->wire.value_sizes);
    free(g->slot_memory);
    free(g->values);
    free(g->modules);
    client_names_clear(&g->node_names);
    client_names_clear(&g->slot_names);
    map_clear(&g->slots);
    map_clear(&g->module_places);
    free(g);
}

static void free_graph(struct client_object *object)
{
    client_graph_free((fusion_graph *)object);
}

fusion_graph *client_graph_new(fusion_session *s)
{
    fusion_graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->session = s;
    return g;
}

fusion_status fusion_graph_create(fusion_session *s, fusion_graph **graph)
{
    fusion_graph *g = client_graph_new(s);
    if (!g) return no_memory();
    client_object_add(s, &g->object, free_graph);
    *graph = g;
    return FUSION_SUCCESS;
}

void fusion_graph_destroy(fusion_graph *g)
{
    if (!g) return;
    if (g->recorders) fusion_graph_end_recording(g);
    client_object_remove(g->session, &g->object);
    free_graph(&g->object);
}

/* ---- slots, values, modules ---- */

static fusion_status limit(const char *what, uint32_t most)
{
    return client_error(FUSION_OUT_OF_MEMORY, "graph", "a graph has at most %" PRIu32 " %s", most, what);
}

static struct proto_slot make_slot(fusion_graph *g, const struct memory *m)
{
    struct proto_slot s = {.bytes = m->bytes, .usm = m->usm, .lanes = 1};
    if (m->buffer) {
        s.elem = (uint8_t)m->buffer->type; /* fusion_type and proto_elem have the same order */
        s.props = client_props(m->buffer->properties);
    }
    if (m->image) s.image = client_wire_image(m->image);
    s.name = client_names_make(&g->slot_names, m->buffer ? m->buffer->name : "usm");
    return s;
}

fusion_status client_graph_slot(fusion_graph *g, const struct memory *m, uint32_t *slot)
{
    struct map_entry *place = map_find(&g->slots, m->id);
    if (place) {
        *slot = (uint32_t)place->number;
        return FUSION_SUCCESS;
    }
    uint32_t capacity = g->slots_capacity, n = g->wire.n_slots;
    if (n >= PROTO_MAX_SLOTS) return limit("buffers, images and allocations", PROTO_MAX_SLOTS);
    if (!client_reserve(&g->wire.slots, n, &capacity, sizeof *g->wire.slots) ||
        !client_reserve(&g->slot_memory, n, &g->slots_capacity, sizeof *g->slot_memory) ||
        !(place = map_make(&g->slots, m->id)))
        return no_memory();
    place->number = n;
    g->wire.slots[n] = make_slot(g, m);
    g->slot_memory[n] = m->id;
    *slot = g->wire.n_slots++;
    return g->wire.slots[n].name ? FUSION_SUCCESS : no_memory();
}

fusion_status client_graph_value(fusion_graph *g, const void *data, uint64_t size, uint32_t *index)
{
    uint32_t capacity = g->values_capacity;
    if (g->wire.n_values >= PROTO_MAX_VALUES) return limit("values as arguments", PROTO_MAX_VALUES);
    if (!client_reserve(&g->wire.value_sizes, g->wire.n_values, &capacity, sizeof *g->wire.value_sizes) ||
        !client_reserve(&g->values, g->wire.n_values, &g->values_capacity, sizeof *g->values))
        return no_memory();
    uint8_t *copy = malloc(size);
    if (!copy) return no_memory();
    memcpy(copy, data, size);
    g->values[g->wire.n_values] = (struct value_bytes){copy, (uint32_t)size};
    g->wire.value_sizes[g->wire.n_values] = (uint32_t)size;
    *index = g->wire.n_values++;
    return FUSION_SUCCESS;
}

fusion_status client_graph_module(fusion_graph *g, uint64_t module, uint32_t *index)
{
    uint32_t n = g->wire.n_modules;
    struct map_entry *place = map_find(&g->module_places, module);
    if (place) {
        *index = (uint32_t)place->number;
        return FUSION_SUCCESS;
    }
    if (!client_reserve(&g->modules, n, &g->modules_capacity, sizeof *g->modules) ||
        !(place = map_make(&g->module_places, module)))
        return no_memory();
    place->number = n;
    g->modules[n] = module;
    *index = g->wire.n_modules++;
    return FUSION_SUCCESS;
}

/* ---- nodes ---- */

static fusion_status take_memory_arg(fusion_graph *g, const fusion_arg *in, const char *object, struct proto_arg *out)
{
    fusion_memory place = {.buffer = in->buffer, .pointer = in->pointer, .offset = in->offset};
    struct memory *m;
    uint64_t offset;
    if (in->kind == FUSION_ARG_BUFFER && !in->buffer) return client_error(FUSION_INVALID, object, "the buffer is NULL");
    if (in->kind == FUSION_ARG_POINTER) place.buffer = NULL;
    fusion_status status =
        client_memory_of(g->session, &place, in->kind == FUSION_ARG_BUFFER ? in->bytes : 0, &m, &offset);
    if (status != FUSION_SUCCESS) return status;
    if (in->access < FUSION_ACCESS_READ || in->access > FUSION_ACCESS_READ_WRITE)
        return client_error(FUSION_INVALID, object, "unknown access %d", (int)in->access);
    status = client_check_properties(in->properties, object);
    if (status != FUSION_SUCCESS) return status;
    out->kind = PROTO_ARG_SLOT;
    out->access = (uint8_t)in->access;
    out->offset = offset;
    out->bytes = in->kind == FUSION_ARG_BUFFER ? in->bytes : 0;
    out->props = client_props(in->properties);
    return client_graph_slot(g, m, &out->index);
}

static fusion_status take_image_arg(fusion_graph *g, const fusion_arg *in, const char *object, struct proto_arg *out)
{
    if (!in->image) return client_error(FUSION_INVALID, object, "the image is NULL");
    if (in->image->buffer.memory.session != g->session)
        return client_error(FUSION_INVALID, in->image->buffer.name, "the image belongs to another session");
    if (in->access < FUSION_ACCESS_READ || in->access > FUSION_ACCESS_READ_WRITE)
        return client_error(FUSION_INVALID, object, "unknown access %d", (int)in->access);
    out->kind = PROTO_ARG_SLOT;
    out->access = (uint8_t)in->access;
    if (in->image->desc.buffer) {
        out->image = client_wire_image(&in->image->desc);
        out->offset = in->image->desc.offset;
        out->bytes = proto_image_bytes(&out->image);
    }
    return client_graph_slot(g, client_image_memory(in->image), &out->index);
}

static fusion_status take_sampler_arg(fusion_graph *g, const fusion_arg *in, const char *object, struct proto_arg *out)
{
    uint64_t bits;
    fusion_status status = client_sampler_bits(&in->sampler, object, &bits);
    if (status != FUSION_SUCCESS) return status;
    out->kind = PROTO_ARG_VALUE;
    out->bytes = sizeof bits;
    return client_graph_value(g, &bits, sizeof bits, &out->index);
}

static fusion_status take_arg(fusion_graph *g, const fusion_arg *in, const char *object, struct proto_arg *out)
{
    *out = (struct proto_arg){0};
    switch (in->kind) {
    case FUSION_ARG_BUFFER:
    case FUSION_ARG_POINTER: return take_memory_arg(g, in, object, out);
    case FUSION_ARG_IMAGE: return take_image_arg(g, in, object, out);
    case FUSION_ARG_SAMPLER: return take_sampler_arg(g, in, object, out);
    case FUSION_ARG_VALUE:
        if (in->bytes == 0 || in->bytes > MAX_VALUE_BYTES || (in->bytes > sizeof in->data && !in->large))
            return client_error(FUSION_INVALID, object, "a value has 1 to %d bytes, not %" PRIu64, MAX_VALUE_BYTES,
                                in->bytes);
        out->kind = PROTO_ARG_VALUE;
        out->bytes = in->bytes;
        return client_graph_value(g, in->large ? in->large : in->data, in->bytes, &out->index);
    case FUSION_ARG_LOCAL:
        if (in->bytes == 0) return client_error(FUSION_INVALID, object, "work-group memory of 0 bytes");
        out->kind = PROTO_ARG_LOCAL;
        out->bytes = in->bytes;
        return FUSION_SUCCESS;
    }
    return client_error(FUSION_INVALID, object, "unknown kind of argument %d", (int)in->kind);
}

fusion_status client_graph_args(fusion_graph *g, const char *what, const fusion_arg *args, uint32_t n_args,
                                struct proto_node *n)
{
    if (n_args > PROTO_MAX_ARGS)
        return client_error(FUSION_INVALID, what, "%" PRIu32 " arguments, at most %d are allowed", n_args,
                            PROTO_MAX_ARGS);
    n->args = calloc(n_args ? n_args : 1, sizeof *n->args);
    if (!n->args) return no_memory();
    n->n_args = n_args;
    for (uint32_t i = 0; i < n_args; i++) {
        char object[300];
        snprintf(object, sizeof object, "%.220s, argument %" PRIu32, what, i);
        fusion_status status = take_arg(g, &args[i], object, &n->args[i]);
        if (status != FUSION_SUCCESS) return status;
    }
    return FUSION_SUCCESS;
}

fusion_status client_graph_deps(struct proto_node *n, const fusion_node *deps, uint32_t n_deps)
{
    n->deps = malloc((n_deps ? n_deps : 1) * sizeof *n->deps);
    if (!n->deps) return no_memory();
    if (n_deps) memcpy(n->deps, deps, n_deps * sizeof *deps);
    n->n_deps = n_deps;
    return FUSION_SUCCESS;
}

static void take_range(const fusion_kernel_node *k, struct proto_node *n)
{
    n->dims = k->dims;
    for (uint32_t d = 0; d < 3; d++) {
        bool used = d < k->dims;
        n->global[d] = used ? k->global[d] : 1;
        n->offset[d] = used ? k->offset[d] : 0;
        n->local[d] = k->local[0] == 0 ? 0 : used ? k->local[d] : 1;
    }
}

/* Puts a filled-in node into the graph, or frees it where status is a failure. */
fusion_status client_graph_append(fusion_graph *g, struct proto_node *n, fusion_status status, fusion_node *node)
{
    if (status == FUSION_SUCCESS && g->wire.n_nodes >= PROTO_MAX_NODES) status = limit("nodes", PROTO_MAX_NODES);
    if (status == FUSION_SUCCESS &&
        !client_reserve(&g->wire.nodes, g->wire.n_nodes, &g->nodes_capacity, sizeof *g->wire.nodes))
        status = no_memory();
    if (status != FUSION_SUCCESS) {
        free_node(n);
        return status;
    }
    if (node) *node = g->wire.n_nodes;
    g->wire.nodes[g->wire.n_nodes++] = *n;
    return FUSION_SUCCESS;
}

void client_graph_take_back(fusion_graph *g)
{
    uint32_t last = --g->wire.n_nodes;
    free_node(&g->wire.nodes[last]);
    if (!g->n_actions || g->actions[g->n_actions - 1].node != last) return;
    client_graph_free(g->actions[--g->n_actions].inner);
}

fusion_status client_graph_add(fusion_graph *g, struct proto_node *n, fusion_status status, const char *name,
                               const char *base, const fusion_node *depends_on, uint32_t n_depends_on,
                               fusion_node *node)
{
    if (status == FUSION_SUCCESS) status = client_graph_deps(n, depends_on, n_depends_on);
    if (status == FUSION_SUCCESS) status = client_graph_name(g, name, base, &n->name);
    return client_graph_append(g, n, status, node);
}

fusion_status fusion_graph_add_kernel(fusion_graph *g, const fusion_kernel_node *k, fusion_node *node)
{
    if (!k->module || !k->kernel)
        return client_error(FUSION_INVALID, "node", "a kernel node needs a module and a kernel's name");
    if (k->dims < 1 || k->dims > 3)
        return client_error(FUSION_INVALID, k->kernel, "1 to 3 dimensions, not %" PRIu32, k->dims);
    struct proto_node n = {.kind = PROTO_NODE_KERNEL};
    n.kernel = strdup(k->kernel);
    take_range(k, &n);
    char what[300];
    snprintf(what, sizeof what, "kernel %.200s", k->kernel);
    fusion_status status = client_graph_module(g, k->module->id, &n.module);
    if (status == FUSION_SUCCESS) status = client_graph_args(g, what, k->args, k->n_args, &n);
    return client_graph_add(g, &n, status, k->name, k->kernel, k->depends_on, k->n_depends_on, node);
}

fusion_status client_graph_slot_at(fusion_graph *g, const fusion_memory *place, uint64_t bytes, uint32_t *slot,
                                   uint64_t *offset)
{
    struct memory *m;
    fusion_status status = client_memory_of(g->session, place, bytes, &m, offset);
    return status == FUSION_SUCCESS ? client_graph_slot(g, m, slot) : status;
}

/* From the first byte of the first row to the end of the last one. */
static fusion_status copy_extent(const struct copy_2d *c, uint64_t pitch, uint64_t *extent)
{
    *extent = c->bytes;
    if (c->rows <= 1) return FUSION_SUCCESS;
    if (pitch >= c->bytes && !__builtin_mul_overflow(pitch, c->rows - 1, extent) &&
        !__builtin_add_overflow(*extent, c->bytes, extent) && *extent <= INT64_MAX)
        return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, "copy", "%" PRIu32 " rows of %" PRIu64 " bytes, %" PRIu64 " bytes apart",
                        c->rows, c->bytes, pitch);
}

static fusion_status add_copy(fusion_graph *g, const char *name, const struct copy_2d *c, const fusion_node *depends_on,
                              uint32_t n_depends_on, fusion_node *node)
{
    struct proto_node n = {.kind = PROTO_NODE_COPY,
                           .bytes = c->bytes,
                           .rows = c->rows,
                           .from_pitch = c->from_pitch,
                           .to_pitch = c->to_pitch};
    uint64_t from_extent, to_extent;
    fusion_status status = copy_extent(c, c->from_pitch, &from_extent);
    if (status == FUSION_SUCCESS) status = copy_extent(c, c->to_pitch, &to_extent);
    if (status != FUSION_SUCCESS) return status;
    if (c->from.host || c->to.host) return client_graph_host_copy(g, name, c, depends_on, n_depends_on, node);
    status = client_graph_slot_at(g, &c->from, from_extent, &n.from, &n.from_offset);
    if (status == FUSION_SUCCESS) status = client_graph_slot_at(g, &c->to, to_extent, &n.to, &n.to_offset);
    return client_graph_add(g, &n, status, name, "copy", depends_on, n_depends_on, node);
}

fusion_status fusion_graph_add_copy(fusion_graph *g, const char *name, fusion_memory from, fusion_memory to,
                                    uint64_t bytes, const fusion_node *depends_on, uint32_t n_depends_on,
                                    fusion_node *node)
{
    return add_copy(g, name, &(struct copy_2d){.from = from, .to = to, .bytes = bytes}, depends_on, n_depends_on, node);
}

fusion_status fusion_graph_add_copy_2d(fusion_graph *g, const char *name, fusion_memory from, uint64_t from_pitch,
                                       fusion_memory to, uint64_t to_pitch, uint64_t bytes, uint32_t rows,
                                       const fusion_node *depends_on, uint32_t n_depends_on, fusion_node *node)
{
    if (rows == 0) return client_error(FUSION_INVALID, name ? name : "copy", "no rows");
    return add_copy(g, name, &(struct copy_2d){from, to, from_pitch, to_pitch, bytes, rows, 0, 0, 0}, depends_on,
                    n_depends_on, node);
}

fusion_status fusion_graph_add_fill(fusion_graph *g, const char *name, fusion_memory to, uint64_t bytes,
                                    const void *pattern, uint32_t pattern_bytes, const fusion_node *depends_on,
                                    uint32_t n_depends_on, fusion_node *node)
{
    struct proto_node n = {.kind = PROTO_NODE_FILL, .bytes = bytes, .pattern_size = pattern_bytes};
    bool power = pattern_bytes && (pattern_bytes & (pattern_bytes - 1)) == 0;
    if (!power || pattern_bytes > sizeof n.pattern || bytes % pattern_bytes)
        return client_error(FUSION_INVALID, name ? name : "fill",
                            "a pattern has 1, 2, 4, 8 or 16 bytes and divides the %" PRIu64
                            " bytes to fill; not %" PRIu32,
                            bytes, pattern_bytes);
    memcpy(n.pattern, pattern, pattern_bytes);
    fusion_status status = client_graph_slot_at(g, &to, bytes, &n.to, &n.to_offset);
    return client_graph_add(g, &n, status, name, "fill", depends_on, n_depends_on, node);
}
