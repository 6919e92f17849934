/* What a submission says otherwise than finalize did: other memory in a slot, other values of arguments. */
#include "client/exec/rebind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/memory/image.h"
#include "client/memory/place.h"

static fusion_status find_slot(const fusion_exec *e, const struct memory *m, uint32_t *slot)
{
    for (uint32_t i = 0; i < e->n_slots; i++) {
        if (e->slot_memory[i] != m->id) continue;
        *slot = i;
        return FUSION_SUCCESS;
    }
    return client_error(FUSION_NOT_FOUND, "rebind", "the graph does not use this buffer or allocation");
}

static fusion_status bind_slot(struct binding *bindings, struct entry *entry, uint32_t slot, struct binding to)
{
    bindings[slot] = to;
    return client_entry_bind(entry, slot, &to) ? FUSION_SUCCESS : client_no_memory("submission");
}

/* Its form is part of the handle, so the other image must have the same. */
static fusion_status rebind_image(fusion_exec *e, const fusion_rebind *r, struct binding *bindings, struct entry *entry)
{
    uint32_t slot = 0;
    if (!r->to_image) return client_error(FUSION_INVALID, "rebind", "there is no image to bind to");
    if (r->from_image->desc.buffer || r->to_image->desc.buffer)
        return client_error(
            FUSION_INVALID, "rebind",
            "an image of a buffer has no memory of its own; bind another buffer in place of the buffer");
    struct memory *old = &r->from_image->buffer.memory, *new = &r->to_image->buffer.memory;
    if (old->session != e->session || new->session != e->session)
        return client_error(FUSION_INVALID, "rebind", "an image belongs to another session");
    fusion_status status = find_slot(e, old, &slot);
    if (status != FUSION_SUCCESS) return status;
    struct proto_image form = client_wire_image(&r->to_image->desc);
    if (!proto_image_same(&form, &e->slot_images[slot]))
        return client_error(FUSION_INVALID, e->slot_names[slot], "image %s has another size, row pitch or format",
                            r->to_image->buffer.memory.name);
    return bind_slot(bindings, entry, slot, (struct binding){new, 0});
}

/* The whole slot moves: what was at one pointer is at the other then. */
static fusion_status check_room(const fusion_exec *e, uint32_t slot, const struct memory *new, uint64_t old_offset,
                                uint64_t new_offset)
{
    uint64_t bytes = e->slot_bytes[slot];
    if (old_offset > new_offset)
        return client_error(FUSION_INVALID, e->slot_names[slot],
                            "the pointer bound so far lies %" PRIu64 " bytes into its memory, the new one only %" PRIu64
                            " bytes into its own: the graph's memory would begin before that",
                            old_offset, new_offset);
    uint64_t from = new_offset - old_offset;
    if (new->bytes - from >= bytes) return FUSION_SUCCESS;
    if (from == 0)
        return client_error(FUSION_INVALID, e->slot_names[slot],
                            "%" PRIu64 " bytes are needed, the new one has %" PRIu64, bytes, new->bytes);
    return client_error(FUSION_INVALID, e->slot_names[slot],
                        "%" PRIu64 " bytes are needed, the new one has %" PRIu64 " from byte %" PRIu64
                        " of its %" PRIu64 " on",
                        bytes, new->bytes - from, from, new->bytes);
}

static fusion_status rebind_memory(fusion_exec *e, const fusion_rebind *r, struct binding *bindings,
                                   struct entry *entry)
{
    fusion_memory from = {.buffer = r->from, .pointer = r->from_pointer},
                  to = {.buffer = r->to, .pointer = r->to_pointer};
    struct memory *old = NULL, *new = NULL;
    uint64_t old_offset = 0, new_offset = 0;
    uint32_t slot = 0;
    if (!r->to && !r->to_pointer)
        return client_error(FUSION_INVALID, "rebind", "there is no buffer or pointer to bind to");
    fusion_status status = client_memory_of(e->session, &from, 0, &old, &old_offset);
    if (status == FUSION_SUCCESS) status = client_memory_of(e->session, &to, 0, &new, &new_offset);
    if (status == FUSION_SUCCESS) status = find_slot(e, old, &slot);
    if (status == FUSION_SUCCESS) status = check_room(e, slot, new, old_offset, new_offset);
    return status == FUSION_SUCCESS ? bind_slot(bindings, entry, slot, (struct binding){new, new_offset - old_offset})
                                    : status;
}

static fusion_status check_type(const fusion_exec *e, const fusion_rebind *r, const struct client_value_type *parameter)
{
    char object[300], name[CLIENT_VALUE_TEXT];
    struct client_value_type given = {r->type, parameter->lanes};
    snprintf(object, sizeof object, "%.200s, argument %" PRIu32, e->node_names[r->node], r->arg);
    return client_value_check(object, client_value_text(*parameter, name), *parameter, given);
}

static fusion_status rebind_value(const fusion_exec *e, const fusion_rebind *r, struct entry *entry)
{
    if (r->node >= e->n_nodes || r->arg >= e->nodes[r->node].n_args)
        return client_error(FUSION_INVALID, "rebind", "there is no argument %" PRIu32 " of node %" PRIu32, r->arg,
                            r->node);
    const struct proto_arg *arg = &e->nodes[r->node].args[r->arg];
    if (arg->kind != PROTO_ARG_VALUE)
        return client_error(FUSION_INVALID, e->node_names[r->node], "argument %" PRIu32 " is no value", r->arg);
    if (r->value_bytes != arg->bytes || !r->value)
        return client_error(FUSION_INVALID, e->node_names[r->node],
                            "argument %" PRIu32 " has %" PRIu64 " bytes, not %zu", r->arg, arg->bytes, r->value_bytes);
    fusion_status status = check_type(e, r, &e->value_types[arg->index]);
    if (status != FUSION_SUCCESS) return status;
    return client_entry_value(entry, arg->index, r->value, (uint32_t)r->value_bytes) ? FUSION_SUCCESS
                                                                                     : client_no_memory("submission");
}

static bool overlap(const fusion_exec *e, const struct binding *bindings, uint32_t a, uint32_t b)
{
    const struct binding *x = &bindings[a], *y = &bindings[b];
    return x->memory && x->memory == y->memory && x->offset < y->offset + e->slot_bytes[b] &&
           y->offset < x->offset + e->slot_bytes[a];
}

/* Distinct slots must stay distinct where one of them is written. The executor sees to that for what its steps use;
   here it is about what nodes in this process use, by itself or with others. */
static fusion_status check_distinct(const fusion_exec *e, const struct binding *bindings)
{
    for (uint32_t a = 0; a < e->n_slots; a++) {
        const struct binding *at = &bindings[a];
        if (!at->memory || (at->memory->id == e->slot_memory[a] && !at->offset)) continue; /* as it was */
        for (uint32_t b = 0; b < e->n_slots; b++) {
            uint8_t access = e->slot_access[a] | e->slot_access[b];
            bool here = access & (SLOT_READ_HERE | SLOT_WRITTEN_HERE);
            bool written = access & (SLOT_WRITTEN | SLOT_WRITTEN_HERE);
            if (a == b || !here || !written || !overlap(e, bindings, a, b)) continue;
            char object[640];
            snprintf(object, sizeof object, "buffers %s and %s", e->slot_names[a < b ? a : b],
                     e->slot_names[a < b ? b : a]);
            return client_error(FUSION_INVALID, object,
                                "were distinct when the graph was finalized, but overlap in memory now, and one of "
                                "them is written");
        }
    }
    return FUSION_SUCCESS;
}

/* Bindings must come before values in an entry, so two rounds. */
fusion_status client_rebind(fusion_exec *e, const fusion_rebind *rebind, uint32_t n, struct binding *bindings,
                            struct entry *entry)
{
    for (int values = 0; values < 2; values++) {
        for (uint32_t i = 0; i < n; i++) {
            const fusion_rebind *r = &rebind[i];
            bool is_value = !r->from && !r->from_pointer && !r->from_image;
            if (is_value != (bool)values) continue;
            fusion_status status = client_check_reserved(r->reserved, "rebind");
            if (status != FUSION_SUCCESS) return status;
            status = is_value        ? rebind_value(e, r, entry)
                     : r->from_image ? rebind_image(e, r, bindings, entry)
                                     : rebind_memory(e, r, bindings, entry);
            if (status != FUSION_SUCCESS) return status;
        }
    }
    return entry->head.n_bindings ? check_distinct(e, bindings) : FUSION_SUCCESS;
}
