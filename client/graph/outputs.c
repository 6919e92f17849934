/* What of a graph is read after it: declared by the caller, told to the service when the graph is finalized. */
#include "client/graph/outputs.h"

#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/memory/image.h"
#include "client/memory/place.h"

static fusion_status memory_of(fusion_graph *g, const fusion_arg *arg, uint64_t *memory)
{
    fusion_memory place = {.buffer = arg->kind == FUSION_ARG_BUFFER ? arg->buffer : NULL,
                           .pointer = arg->kind == FUSION_ARG_POINTER ? arg->pointer : NULL};
    struct memory *m;
    uint64_t offset;
    fusion_status status = client_check_reserved(arg->reserved, "output");
    if (status != FUSION_SUCCESS) return status;
    if (arg->kind == FUSION_ARG_IMAGE) {
        if (!arg->image) return client_error(FUSION_INVALID, "graph", "an output is a NULL image");
        if (arg->image->buffer.memory.session != g->session)
            return client_error(FUSION_INVALID, arg->image->buffer.memory.name, "the image belongs to another session");
        *memory = client_image_memory(arg->image)->id;
        return FUSION_SUCCESS;
    }
    if (!place.buffer && !place.pointer)
        return client_error(FUSION_INVALID, "graph", "an output is neither a buffer, a pointer nor an image");
    status = client_memory_of(g->session, &place, 0, &m, &offset);
    if (status == FUSION_SUCCESS) *memory = m->id;
    return status;
}

static fusion_status set(fusion_graph *g, uint64_t *memory, uint32_t n)
{
    free(g->outputs.memory);
    g->outputs.declared = true;
    g->outputs.n = n;
    g->outputs.memory = memory;
    return FUSION_SUCCESS;
}

fusion_status fusion_graph_set_outputs(fusion_graph *g, const fusion_arg *outputs, uint32_t n)
{
    uint64_t *memory = calloc((size_t)n + 1, sizeof *memory);
    fusion_status status = memory ? FUSION_SUCCESS : client_no_memory("graph");
    for (uint32_t i = 0; i < n && status == FUSION_SUCCESS; i++) status = memory_of(g, &outputs[i], &memory[i]);
    if (status == FUSION_SUCCESS) return set(g, memory, n);
    free(memory);
    return status;
}

fusion_status client_graph_copy_outputs(fusion_graph *g, const fusion_graph *from)
{
    const struct graph_outputs *o = &from->outputs;
    if (!o->declared) return FUSION_SUCCESS;
    uint64_t *memory = calloc((size_t)o->n + 1, sizeof *memory);
    if (!memory) return client_no_memory("graph");
    if (o->n) memcpy(memory, o->memory, o->n * sizeof *memory);
    return set(g, memory, o->n);
}

void client_graph_describe_outputs(fusion_graph *g)
{
    for (uint32_t i = 0; i < g->wire.n_slots; i++) {
        bool is_output = !g->outputs.declared;
        for (uint32_t k = 0; k < g->outputs.n && !is_output; k++) is_output = g->outputs.memory[k] == g->slot_memory[i];
        g->wire.slots[i].unread = !is_output;
    }
}
