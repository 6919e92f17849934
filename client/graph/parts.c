/* What a graph is made of. */
#include "client/graph/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/array.h"
#include "client/base/error.h"
#include "client/memory/image.h"
#include "client/memory/place.h"
#include "client/memory/properties.h"
#include "proto/limits.h"

/* ---- life ---- */

fusion_graph *client_graph_new(fusion_session *s)
{
    fusion_graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->session = s;
    return g;
}

void client_node_free(struct proto_node *n)
{
    free(n->name);
    free(n->kernel);
    free(n->args);
    free(n->deps);
}

fusion_graph *client_graph_of_wire(fusion_session *s, struct proto_graph *wire)
{
    fusion_graph *g = client_graph_new(s);
    if (g) {
        g->values = calloc(wire->n_values + 1, sizeof *g->values);
        g->modules = calloc(wire->n_modules + 1, sizeof *g->modules);
        g->slot_memory = calloc(wire->n_slots + 1, sizeof *g->slot_memory);
    }
    if (!g || !g->values || !g->modules || !g->slot_memory) {
        proto_graph_free(wire);
        client_graph_free(g);
        return NULL;
    }
    g->wire = *wire;
    free(wire);
    return g;
}

void client_graph_free(fusion_graph *g)
{
    if (!g) return;
    for (uint32_t i = 0; i < g->n_actions; i++) client_graph_free(g->actions[i].inner);
    free(g->actions);
    free(g->parent_of);
    free(g->outputs.memory);
    for (uint32_t i = 0; i < g->wire.n_nodes; i++) client_node_free(&g->wire.nodes[i]);
    for (uint32_t i = 0; i < g->wire.n_slots; i++) free(g->wire.slots[i].name);
    for (uint32_t i = 0; i < g->wire.n_values; i++) free(g->values[i].data);
    free(g->wire.nodes);
    free(g->wire.slots);
    free(g->wire.values);
    free(g->slot_memory);
    free(g->values);
    free(g->modules);
    client_names_clear(&g->node_names);
    client_names_clear(&g->slot_names);
    map_clear(&g->slots);
    map_clear(&g->module_places);
    free(g);
}

/* ---- slots, values, modules ---- */

fusion_status client_graph_full(const char *what, uint32_t most)
{
    return client_error(FUSION_OUT_OF_MEMORY, "graph", "a graph has at most %" PRIu32 " %s", most, what);
}

/* But for the name. */
static struct proto_slot make_slot(const struct memory *m)
{
    struct proto_slot s = {.bytes = m->bytes, .usm = m->usm, .lanes = 1};
    if (m->buffer) {
        s.elem = (uint8_t)m->buffer->type; /* fusion_type and proto_elem have the same order */
        s.props = client_props(m->buffer->properties);
    }
    if (m->image) s.image = client_wire_image(m->image);
    return s;
}

static fusion_status name_slot(fusion_graph *g, const struct memory *m, const char *as, char **name)
{
    *name = client_names_make(&g->slot_names, !m->named && as && *as ? as : m->name ? m->name : "usm");
    if (!*name) return client_no_memory("graph");
    if (!g->of_user || !m->named || strcmp(*name, m->name) == 0) return FUSION_SUCCESS;
    client_names_release(&g->slot_names, *name);
    free(*name);
    return client_error(FUSION_INVALID, m->name,
                        "another buffer or image of the graph has this name, so that nobody could tell them apart");
}

fusion_status client_graph_slot(fusion_graph *g, const struct memory *m, const char *as, uint32_t *slot)
{
    const struct map_entry *known = map_find(&g->slots, m->id);
    uint32_t capacity = g->slots_capacity, n = g->wire.n_slots;
    if (known) {
        *slot = (uint32_t)known->number;
        return FUSION_SUCCESS;
    }
    if (n >= PROTO_MAX_SLOTS) return client_graph_full("buffers, images and allocations", PROTO_MAX_SLOTS);
    if (!client_reserve(&g->wire.slots, n, &capacity, sizeof *g->wire.slots) ||
        !client_reserve(&g->slot_memory, n, &g->slots_capacity, sizeof *g->slot_memory))
        return client_no_memory("graph");
    char *name;
    fusion_status status = name_slot(g, m, as, &name);
    if (status != FUSION_SUCCESS) return status;
    struct map_entry *entry = map_make(&g->slots, m->id);
    if (!entry) {
        client_names_release(&g->slot_names, name);
        free(name);
        return client_no_memory("graph");
    }
    entry->number = *slot = n;
    g->wire.slots[n] = make_slot(m);
    g->wire.slots[n].name = name;
    g->slot_memory[n] = m->id;
    g->wire.n_slots++;
    return FUSION_SUCCESS;
}

fusion_status client_graph_slot_at(fusion_graph *g, const fusion_memory *place, uint64_t bytes, uint32_t *slot,
                                   uint64_t *offset)
{
    struct memory *m;
    fusion_status status = client_memory_of(g->session, place, bytes, &m, offset);
    return status == FUSION_SUCCESS ? client_graph_slot(g, m, NULL, slot) : status;
}

fusion_status client_graph_value(fusion_graph *g, const void *data, uint64_t size, struct client_value_type type,
                                 uint32_t *index)
{
    uint32_t capacity = g->values_capacity;
    if (g->wire.n_values >= PROTO_MAX_VALUES) return client_graph_full("values as arguments", PROTO_MAX_VALUES);
    if (!client_reserve(&g->wire.values, g->wire.n_values, &capacity, sizeof *g->wire.values) ||
        !client_reserve(&g->values, g->wire.n_values, &g->values_capacity, sizeof *g->values))
        return client_no_memory("graph");
    uint8_t *copy = malloc(size);
    if (!copy) return client_no_memory("graph");
    memcpy(copy, data, size);
    g->values[g->wire.n_values] = (struct value_bytes){copy, (uint32_t)size, type};
    g->wire.values[g->wire.n_values] = (struct proto_value){.size = (uint32_t)size};
    *index = g->wire.n_values++;
    return FUSION_SUCCESS;
}

fusion_status client_graph_module(fusion_graph *g, uint64_t module, uint32_t *index)
{
    const struct map_entry *known = map_find(&g->module_places, module);
    uint32_t n = g->wire.n_modules;
    if (known) {
        *index = (uint32_t)known->number;
        return FUSION_SUCCESS;
    }
    struct map_entry *entry = client_reserve(&g->modules, n, &g->modules_capacity, sizeof *g->modules)
                                  ? map_make(&g->module_places, module)
                                  : NULL;
    if (!entry) return client_no_memory("graph");
    entry->number = *index = n;
    g->modules[n] = module;
    g->wire.n_modules++;
    return FUSION_SUCCESS;
}

void client_graph_keep(fusion_graph *g)
{
    g->kept.slots = g->wire.n_slots;
    g->kept.values = g->wire.n_values;
    g->kept.modules = g->wire.n_modules;
}

void client_graph_roll_back(fusion_graph *g)
{
    while (g->wire.n_slots > g->kept.slots) {
        uint32_t last = --g->wire.n_slots;
        map_remove(&g->slots, g->slot_memory[last]);
        client_names_release(&g->slot_names, g->wire.slots[last].name);
        free(g->wire.slots[last].name);
    }
    while (g->wire.n_values > g->kept.values) free(g->values[--g->wire.n_values].data);
    while (g->wire.n_modules > g->kept.modules) map_remove(&g->module_places, g->modules[--g->wire.n_modules]);
}
