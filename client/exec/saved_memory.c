/* The memory of executables that were loaded. */
#include "client/exec/saved_memory.h"

#include "client/memory/image.h"
#include "client/memory/properties.h"

static unsigned properties_of(const struct proto_props *p)
{
    return (p->internal_memory ? FUSION_INTERNAL_MEMORY : 0) | (p->no_init ? FUSION_NO_INIT : 0) |
           (p->access_scope == PROTO_SCOPE_WORK_GROUP  ? FUSION_ACCESS_SCOPE_WORK_GROUP
            : p->access_scope == PROTO_SCOPE_WORK_ITEM ? FUSION_ACCESS_SCOPE_WORK_ITEM
                                                       : 0);
}

static fusion_image_desc desc_of(const struct proto_image *i)
{
    bool solid = i->type == PROTO_IMAGE_3D;
    return (fusion_image_desc){FUSION_SIZED(fusion_image_desc),
                               .width = i->width,
                               .height = i->height,
                               .row_pitch = i->row_pitch,
                               .channel_order = (fusion_channel_order)i->channel_order,
                               .channel_type = (fusion_channel_type)i->channel_type,
                               .type = (fusion_image_type)i->type,
                               .depth = solid ? i->slices : 0,
                               .array_size = solid ? 0 : i->slices,
                               .slice_pitch = i->slice_pitch};
}

static fusion_status make_usm(fusion_session *s, const struct proto_slot *slot, uint64_t *id)
{
    void *pointer;
    fusion_status status = fusion_malloc(s, FUSION_USM_SHARED, slot->bytes, &pointer);
    if (status != FUSION_SUCCESS) return status;
    pthread_mutex_lock(&s->lock);
    *id = client_usm_find(s, pointer)->id;
    pthread_mutex_unlock(&s->lock);
    return FUSION_SUCCESS;
}

static fusion_status make(fusion_session *s, const struct proto_slot *slot, uint64_t *id)
{
    fusion_buffer *buffer;
    fusion_image *image;
    fusion_status status;
    if (slot->usm) return make_usm(s, slot, id);
    if (slot->image.width) {
        const fusion_image_desc desc = desc_of(&slot->image);
        status = fusion_image_create(s, slot->name, &desc, &image);
        if (status == FUSION_SUCCESS) *id = image->buffer.memory.id;
        return status;
    }
    uint32_t width = client_type_bytes((fusion_type)slot->elem);
    bool whole = width && slot->bytes % width == 0;
    status = fusion_buffer_create(s, slot->name, whole ? (fusion_type)slot->elem : FUSION_BYTES,
                                  whole ? slot->bytes / width : slot->bytes, properties_of(&slot->props), &buffer);
    if (status == FUSION_SUCCESS) *id = buffer->memory.id;
    return status;
}

fusion_status client_saved_memory_make(fusion_graph *g)
{
    for (uint32_t i = 0; i < g->wire.n_slots; i++) {
        fusion_status status = make(g->session, &g->wire.slots[i], &g->slot_memory[i]);
        if (status != FUSION_SUCCESS) return status;
    }
    return FUSION_SUCCESS;
}

static struct memory *find(fusion_session *s, uint64_t id)
{
    pthread_mutex_lock(&s->lock);
    struct memory *m = id ? client_memory_find(s, id) : NULL;
    pthread_mutex_unlock(&s->lock);
    return m;
}

void client_saved_memory_drop(fusion_session *s, const uint64_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct memory *m = find(s, ids[i]);
        if (m && m->usm)
            fusion_free(s, m->map);
        else if (m)
            fusion_buffer_destroy(m->buffer);
    }
}
