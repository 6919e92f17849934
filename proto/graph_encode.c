/* Writing a graph: msgpack arrays in a fixed order, numbers in their shortest form, nothing optional. */
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "proto/graph.h"
#include "proto/graph_layout.h"

static void put_uint(msgpack_packer *p, uint64_t value)
{
    msgpack_pack_uint64(p, value);
}

static void put_text(msgpack_packer *p, const char *text)
{
    size_t size = text ? strlen(text) : 0;
    msgpack_pack_str_with_body(p, text ? text : "", size);
}

static void put_bool(msgpack_packer *p, bool value)
{
    value ? msgpack_pack_true(p) : msgpack_pack_false(p);
}

static void put_props(msgpack_packer *p, const struct proto_props *props)
{
    msgpack_pack_array(p, PROPS_FIELDS);
    put_uint(p, props->access_scope);
    put_bool(p, props->internal_memory);
    put_bool(p, props->no_init);
}

static void put_image(msgpack_packer *p, const struct proto_image *image)
{
    msgpack_pack_array(p, image->width ? IMAGE_FIELDS : 0);
    if (!image->width) return;
    put_uint(p, image->width);
    put_uint(p, image->height);
    put_uint(p, image->row_pitch);
    put_uint(p, image->channel_order);
    put_uint(p, image->channel_type);
    put_uint(p, image->type);
    put_uint(p, image->slices);
    put_uint(p, image->slice_pitch);
}

static void put_slot(msgpack_packer *p, const struct proto_slot *slot)
{
    msgpack_pack_array(p, SLOT_FIELDS);
    put_text(p, slot->name);
    put_uint(p, slot->bytes);
    put_uint(p, slot->elem);
    put_uint(p, slot->lanes);
    put_bool(p, slot->usm);
    put_props(p, &slot->props);
    put_bool(p, slot->unread);
    put_image(p, &slot->image);
}

static void put_value(msgpack_packer *p, const struct proto_value *value)
{
    msgpack_pack_array(p, VALUE_FIELDS);
    put_uint(p, value->size);
    put_uint(p, value->alike);
    put_uint(p, value->number);
}

static void put_arg(msgpack_packer *p, const struct proto_arg *arg)
{
    msgpack_pack_array(p, ARG_FIELDS);
    put_uint(p, arg->kind);
    put_uint(p, arg->access);
    put_uint(p, arg->index);
    put_uint(p, arg->offset);
    put_uint(p, arg->bytes);
    put_props(p, &arg->props);
    put_image(p, &arg->image);
}

static void put_args(msgpack_packer *p, const struct proto_node *node)
{
    msgpack_pack_array(p, node->n_args);
    for (uint32_t i = 0; i < node->n_args; i++) put_arg(p, &node->args[i]);
}

static void put_kernel(msgpack_packer *p, const struct proto_node *node)
{
    msgpack_pack_array(p, KERNEL_FIELDS);
    put_uint(p, node->module);
    put_text(p, node->kernel);
    msgpack_pack_array(p, node->dims);
    for (uint32_t d = 0; d < node->dims && d < 3; d++) {
        msgpack_pack_array(p, RANGE_FIELDS);
        put_uint(p, node->global[d]);
        put_uint(p, node->offset[d]);
        put_uint(p, node->local[d]);
    }
    put_args(p, node);
}

static void put_copy(msgpack_packer *p, const struct proto_node *node)
{
    msgpack_pack_array(p, COPY_FIELDS);
    put_uint(p, node->from);
    put_uint(p, node->from_offset);
    put_uint(p, node->to);
    put_uint(p, node->to_offset);
    put_uint(p, node->bytes);
    put_uint(p, node->rows);
    put_uint(p, node->from_pitch);
    put_uint(p, node->to_pitch);
    put_uint(p, node->plane);
    put_uint(p, node->from_slice_pitch);
    put_uint(p, node->to_slice_pitch);
}

static void put_fill(msgpack_packer *p, const struct proto_node *node)
{
    msgpack_pack_array(p, FILL_FIELDS);
    put_uint(p, node->to);
    put_uint(p, node->to_offset);
    put_uint(p, node->bytes);
    uint32_t size = node->pattern_size <= sizeof node->pattern ? node->pattern_size : 0;
    msgpack_pack_bin(p, size);
    msgpack_pack_bin_body(p, node->pattern, size);
    put_uint(p, node->rows);
    put_uint(p, node->to_pitch);
    put_uint(p, node->plane);
    put_uint(p, node->to_slice_pitch);
}

static void put_node(msgpack_packer *p, const struct proto_node *node)
{
    msgpack_pack_array(p, NODE_FIELDS);
    put_uint(p, node->kind);
    put_text(p, node->name);
    msgpack_pack_array(p, node->n_deps);
    for (uint32_t i = 0; i < node->n_deps; i++) put_uint(p, node->deps[i]);
    switch (node->kind) {
    case PROTO_NODE_KERNEL: put_kernel(p, node); break;
    case PROTO_NODE_COPY: put_copy(p, node); break;
    case PROTO_NODE_FILL: put_fill(p, node); break;
    default:
        msgpack_pack_array(p, HOST_FIELDS);
        put_args(p, node);
        break;
    }
}

/* sbuffer tells a failed growth once, then goes on: remember it. */
struct sink {
    msgpack_sbuffer buffer;
    bool failed;
};

static int sink_write(void *data, const char *bytes, size_t size)
{
    struct sink *sink = data;
    if (sink->failed || msgpack_sbuffer_write(&sink->buffer, bytes, size) != 0) sink->failed = true;
    return sink->failed ? -1 : 0;
}

uint8_t *proto_graph_encode(const struct proto_graph *g, size_t *size)
{
    struct sink sink = {0};
    msgpack_packer p;
    msgpack_packer_init(&p, &sink, sink_write);
    msgpack_pack_array(&p, GRAPH_FIELDS);
    put_uint(&p, GRAPH_FORMAT);
    put_uint(&p, g->n_modules);
    msgpack_pack_array(&p, g->n_slots);
    for (uint32_t i = 0; i < g->n_slots; i++) put_slot(&p, &g->slots[i]);
    msgpack_pack_array(&p, g->n_values);
    for (uint32_t i = 0; i < g->n_values; i++) put_value(&p, &g->values[i]);
    msgpack_pack_array(&p, g->n_nodes);
    for (uint32_t i = 0; i < g->n_nodes; i++) put_node(&p, &g->nodes[i]);
    if (sink.failed) {
        msgpack_sbuffer_destroy(&sink.buffer);
        return NULL;
    }
    *size = sink.buffer.size;
    return (uint8_t *)msgpack_sbuffer_release(&sink.buffer);
}
