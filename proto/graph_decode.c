/* Reading a graph somebody else wrote: the structure is read by a cursor, then every part is checked. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusiond/status.h"
#include "ir/base/cursor.h"
#include "proto/graph.h"
#include "proto/graph_layout.h"
#include "proto/limits.h"

struct decoder {
    struct cursor cursor;
    bool failed; /* the first failure is the error; what follows reads zeros */
    struct error *error;
    struct proto_graph *graph;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct decoder *d, const char *format, ...)
{
    if (!d->failed) {
        va_list args;
        va_start(args, format);
        error_vset(d->error, FUSION_INVALID, "graph", format, args);
        va_end(args);
    }
    d->failed = true;
    return false;
}

/* ---- items ---- */

static struct cursor_item take(struct decoder *d, enum cursor_type type, const char *what)
{
    struct cursor_item item = {0};
    if (!d->failed && (!cursor_next(&d->cursor, &item) || item.type != type))
        fail(d, "the graph is malformed: %s expected", what);
    return d->failed ? (struct cursor_item){0} : item;
}

static uint64_t take_uint(struct decoder *d, uint64_t max, const char *what)
{
    uint64_t value = take(d, CURSOR_UINT, what).number;
    if (value > max) {
        fail(d, "%s is %llu; the largest allowed is %llu", what, (unsigned long long)value, (unsigned long long)max);
        return 0;
    }
    return value;
}

static bool take_bool(struct decoder *d, const char *what)
{
    return take(d, CURSOR_BOOL, what).number != 0;
}

static uint32_t take_array(struct decoder *d, uint32_t max, const char *what)
{
    uint64_t count = take(d, CURSOR_ARRAY, what).number;
    if (count > max) {
        fail(d, "the graph has %llu %s; at most %u are allowed", (unsigned long long)count, what, max);
        return 0;
    }
    return (uint32_t)count;
}

static void take_fields(struct decoder *d, uint32_t count, const char *what)
{
    uint64_t fields = take(d, CURSOR_ARRAY, what).number;
    if (!d->failed && fields != count)
        fail(d, "the graph is malformed: %s of %llu fields, not %u", what, (unsigned long long)fields, count);
}

/* A fresh array of zeros. The cursor has made sure that there are at least `count` bytes of input. */
static void *make(struct decoder *d, uint32_t count, size_t size)
{
    if (d->failed || count == 0) return NULL;
    void *array = calloc(count, size);
    if (!array) fail(d, "out of memory");
    return array;
}

static char *take_name(struct decoder *d, bool may_be_empty, const char *what)
{
    struct cursor_item item = take(d, CURSOR_STRING, what);
    if (d->failed) return NULL;
    if (item.number > PROTO_MAX_NAME) {
        fail(d, "%s has %llu bytes; at most %d are allowed", what, (unsigned long long)item.number, PROTO_MAX_NAME);
        return NULL;
    }
    if (item.number == 0 && !may_be_empty) {
        fail(d, "%s is empty", what);
        return NULL;
    }
    if (memchr(item.bytes, 0, item.number) || !cursor_is_utf8(item.bytes, item.number)) {
        fail(d, "%s is not UTF-8 text", what);
        return NULL;
    }
    char *name = strndup((const char *)item.bytes, item.number);
    if (!name) fail(d, "out of memory");
    return name;
}

/* ---- parts ---- */

static struct proto_props take_props(struct decoder *d)
{
    struct proto_props props;
    take_fields(d, PROPS_FIELDS, "properties");
    props.access_scope = (uint8_t)take_uint(d, PROTO_SCOPE_COUNT - 1, "an access scope");
    props.internal_memory = take_bool(d, "internal memory");
    props.no_init = take_bool(d, "no_init");
    return props;
}

static void take_image(struct decoder *d, struct proto_image *image)
{
    uint64_t fields = take(d, CURSOR_ARRAY, "an image").number;
    if (d->failed || fields == 0) return;
    if (fields != IMAGE_FIELDS) {
        fail(d, "the graph is malformed: an image of %llu fields, not %u", (unsigned long long)fields, IMAGE_FIELDS);
        return;
    }
    image->width = (uint32_t)take_uint(d, UINT32_MAX, "an image's width");
    image->height = (uint32_t)take_uint(d, UINT32_MAX, "an image's height");
    image->row_pitch = (uint32_t)take_uint(d, UINT32_MAX, "an image's row pitch");
    image->channel_order = (uint32_t)take_uint(d, UINT32_MAX, "an image's channel order");
    image->channel_type = (uint32_t)take_uint(d, UINT32_MAX, "an image's channel type");
    image->type = (uint32_t)take_uint(d, UINT32_MAX, "an image's type");
    image->slices = (uint32_t)take_uint(d, UINT32_MAX, "an image's slices");
    image->slice_pitch = take_uint(d, INT64_MAX, "an image's slice pitch");
    if (!d->failed && !image->width) fail(d, "an image has no columns");
}

static void check_image(struct decoder *d, const struct proto_slot *slot)
{
    struct error e;
    const struct proto_props *p = &slot->props;
    if (d->failed || !slot->image.width) return;
    if (proto_image_check(&slot->image, &e) != 0)
        fail(d, "image `%s`: %s", slot->name, e.reason);
    else if (slot->image.type == PROTO_IMAGE_1D_BUFFER)
        fail(d, "image `%s` is one of a buffer, and has memory of its own", slot->name);
    else if (slot->bytes != proto_image_bytes(&slot->image))
        fail(d, "image `%s` has %llu bytes, its rows %llu", slot->name, (unsigned long long)slot->bytes,
             (unsigned long long)proto_image_bytes(&slot->image));
    else if (slot->usm || slot->elem != PROTO_ELEM_BYTES || slot->lanes != 1)
        fail(d, "image `%s` is USM or has elements that are not bytes", slot->name);
    else if (p->access_scope || p->internal_memory || p->no_init)
        fail(d, "image `%s` has properties, which images cannot have", slot->name);
}

static void take_slot(struct decoder *d, struct proto_slot *slot)
{
    take_fields(d, SLOT_FIELDS, "a buffer");
    slot->name = take_name(d, true, "a buffer's name");
    slot->bytes = take_uint(d, INT64_MAX, "a buffer's size");
    slot->elem = (uint8_t)take_uint(d, PROTO_ELEM_COUNT - 1, "a buffer's element type");
    slot->lanes = (uint8_t)take_uint(d, 16, "a buffer's lanes");
    slot->usm = take_bool(d, "usm");
    slot->props = take_props(d);
    slot->unread = take_bool(d, "unread");
    take_image(d, &slot->image);
    check_image(d, slot);
    if (d->failed) return;
    if (slot->bytes == 0) fail(d, "buffer `%s` has no bytes", slot->name);
    if (slot->lanes != 1 && slot->lanes != 2 && slot->lanes != 3 && slot->lanes != 4 && slot->lanes != 8 &&
        slot->lanes != 16)
        fail(d, "buffer `%s` has %u lanes; 1, 2, 3, 4, 8 and 16 are possible", slot->name, slot->lanes);
}

/* Do `bytes` bytes from `offset` lie inside the slot? */
static void check_extent(struct decoder *d, const struct proto_node *node, uint32_t slot, uint64_t offset,
                         uint64_t bytes)
{
    if (d->failed) return;
    if (slot >= d->graph->n_slots) {
        fail(d, "node `%s` uses buffer %u; the graph has %u", node->name, slot, d->graph->n_slots);
        return;
    }
    uint64_t have = d->graph->slots[slot].bytes;
    if (offset > have || bytes > have - offset)
        fail(d, "node `%s` accesses bytes %llu to %llu of buffer `%s`, which has %llu", node->name,
             (unsigned long long)offset, (unsigned long long)(offset + bytes), d->graph->slots[slot].name,
             (unsigned long long)have);
}

/* Adds n times what lies between two rows, or two slices. False: that is more than 2^64 bytes. */
static bool add_pitch(uint64_t pitch, uint64_t n, uint64_t *bytes)
{
    uint64_t more;
    return !__builtin_mul_overflow(pitch, n, &more) && !__builtin_add_overflow(*bytes, more, bytes);
}

/* The same of rows that are `pitch` apart, in slices that are `slice_pitch` apart. */
static void check_rows(struct decoder *d, const struct proto_node *node, uint32_t slot, uint64_t offset, uint64_t pitch,
                       uint64_t slice_pitch)
{
    uint64_t bytes = node->bytes, plane = node->plane ? node->plane : node->rows;
    bool slices = node->plane && node->rows > node->plane;
    if (d->failed) return;
    if (node->rows == 0 && (pitch || node->plane))
        fail(d, "node `%s` has a pitch, but no rows", node->name);
    else if (node->rows && !node->bytes)
        fail(d, "node `%s` has rows of no bytes", node->name);
    else if (plane > 1 && pitch < node->bytes)
        fail(d, "node `%s` has rows of %llu bytes, but %llu from each to the next", node->name,
             (unsigned long long)node->bytes, (unsigned long long)pitch);
    else if (plane && node->rows % plane)
        fail(d, "node `%s` has %u rows in slices of %u", node->name, node->rows, node->plane);
    else if (plane && !add_pitch(pitch, plane - 1, &bytes))
        fail(d, "node `%s` has rows that reach beyond 2^64 bytes", node->name);
    else if (slices && slice_pitch < bytes)
        fail(d, "node `%s` has slices of %llu bytes, but %llu from each to the next", node->name,
             (unsigned long long)bytes, (unsigned long long)slice_pitch);
    else if (slices && !add_pitch(slice_pitch, node->rows / plane - 1, &bytes))
        fail(d, "node `%s` has slices that reach beyond 2^64 bytes", node->name);
    check_extent(d, node, slot, offset, bytes);
}

static void check_value(struct decoder *d, const struct proto_node *node, const struct proto_arg *arg)
{
    if (arg->index >= d->graph->n_values)
        fail(d, "node `%s` uses value %u; the graph has %u", node->name, arg->index, d->graph->n_values);
    else if (arg->bytes != d->graph->values[arg->index].size)
        fail(d, "node `%s` uses value %u with %llu bytes; it has %u", node->name, arg->index,
             (unsigned long long)arg->bytes, d->graph->values[arg->index].size);
}

/* A part of a buffer that the argument takes as an image. */
static void check_view(struct decoder *d, const struct proto_node *node, const struct proto_arg *arg)
{
    struct error e;
    const struct proto_props *p = &arg->props;
    const char *name = d->graph->slots[arg->index].name;
    if (proto_image_check(&arg->image, &e) != 0)
        fail(d, "node `%s`, buffer `%s` as an image: %s", node->name, name, e.reason);
    else if (arg->image.type != PROTO_IMAGE_1D_BUFFER || d->graph->slots[arg->index].image.width)
        fail(d, "node `%s` takes `%s` as an image of other than a buffer", node->name, name);
    else if (arg->bytes != proto_image_bytes(&arg->image))
        fail(d, "node `%s` takes %llu bytes of `%s` as an image of %llu", node->name, (unsigned long long)arg->bytes,
             name, (unsigned long long)proto_image_bytes(&arg->image));
    else if (p->access_scope || p->internal_memory || p->no_init)
        fail(d, "node `%s` gives properties to `%s`, which it takes as an image", node->name, name);
}

static void check_accessor(struct decoder *d, const struct proto_node *node, const struct proto_arg *arg)
{
    const struct proto_props *p = &arg->props;
    check_extent(d, node, arg->index, arg->offset, arg->bytes);
    if (d->failed) return;
    if (arg->image.width) check_view(d, node, arg);
    if (d->failed || !d->graph->slots[arg->index].image.width) return;
    if (arg->offset || arg->bytes || p->access_scope || p->internal_memory || p->no_init)
        fail(d, "node `%s` takes a part of image `%s`, or gives it properties; images are taken as they are",
             node->name, d->graph->slots[arg->index].name);
}

static void take_arg(struct decoder *d, const struct proto_node *node, struct proto_arg *arg)
{
    take_fields(d, ARG_FIELDS, "an argument");
    arg->kind = (uint8_t)take_uint(d, PROTO_ARG_COUNT - 1, "an argument's kind");
    arg->access = (uint8_t)take_uint(d, PROTO_ACCESS_COUNT - 1, "an argument's access");
    arg->index = (uint32_t)take_uint(d, UINT32_MAX, "an argument's index");
    arg->offset = take_uint(d, INT64_MAX, "an argument's offset");
    arg->bytes = take_uint(d, INT64_MAX, "an argument's size");
    arg->props = take_props(d);
    take_image(d, &arg->image);
    if (d->failed) return;
    if (arg->kind == PROTO_ARG_SLOT)
        check_accessor(d, node, arg);
    else if (arg->kind == PROTO_ARG_VALUE)
        check_value(d, node, arg);
    else if (arg->bytes == 0)
        fail(d, "node `%s` has a local argument of no bytes", node->name);
}

static void take_args(struct decoder *d, struct proto_node *node)
{
    uint32_t n_args = take_array(d, PROTO_MAX_ARGS, "arguments of a node");
    node->args = make(d, n_args, sizeof *node->args);
    for (; !d->failed && node->n_args < n_args; node->n_args++) take_arg(d, node, &node->args[node->n_args]);
}

static void take_host(struct decoder *d, struct proto_node *node)
{
    take_fields(d, HOST_FIELDS, "a host node");
    take_args(d, node);
    for (uint32_t i = 0; !d->failed && i < node->n_args; i++)
        if (node->args[i].kind != PROTO_ARG_SLOT) fail(d, "argument %u of host node `%s` is no buffer", i, node->name);
}

static void take_range(struct decoder *d, struct proto_node *node)
{
    node->dims = take_array(d, 3, "dimensions");
    for (uint32_t i = 0; i < 3; i++) node->global[i] = 1;
    for (uint32_t i = 0; i < node->dims; i++) {
        take_fields(d, RANGE_FIELDS, "a range");
        node->global[i] = take_uint(d, INT64_MAX, "a global size");
        node->offset[i] = take_uint(d, INT64_MAX, "a global offset");
        node->local[i] = take_uint(d, INT64_MAX, "a local size");
    }
    for (uint32_t i = node->dims; i < 3; i++) node->local[i] = node->local[0] ? 1 : 0;
}

static void check_range(struct decoder *d, const struct proto_node *node)
{
    if (d->failed) return;
    if (node->dims == 0) {
        fail(d, "node `%s` has no dimensions", node->name);
        return;
    }
    uint64_t items = 1, group = 1; /* items: where a dimension has none, of the others */
    bool free_local = node->local[0] == 0;
    for (uint32_t i = 0; i < node->dims; i++) {
        if ((node->local[i] == 0) != free_local)
            fail(d, "node `%s` has local size 0 in some dimensions only", node->name);
        uint64_t size = node->global[i] ? node->global[i] : 1;
        if (__builtin_mul_overflow(items, size, &items) || items > INT64_MAX ||
            node->global[i] + node->offset[i] > INT64_MAX)
            fail(d, "node `%s` has more work-items than 2^63", node->name);
        if (!free_local && (__builtin_mul_overflow(group, node->local[i], &group) || group > UINT32_MAX))
            fail(d, "node `%s` has more work-items in a group than 2^32", node->name);
    }
}

static void take_kernel(struct decoder *d, struct proto_node *node)
{
    take_fields(d, KERNEL_FIELDS, "a kernel node");
    node->module = (uint32_t)take_uint(d, UINT32_MAX, "a module's number");
    node->kernel = take_name(d, false, "a kernel's name");
    take_range(d, node);
    check_range(d, node);
    if (!d->failed && node->module >= d->graph->n_modules)
        fail(d, "node `%s` uses module %u; the graph has %u", node->name, node->module, d->graph->n_modules);
    take_args(d, node);
}

static void take_copy(struct decoder *d, struct proto_node *node)
{
    take_fields(d, COPY_FIELDS, "a copy node");
    node->from = (uint32_t)take_uint(d, UINT32_MAX, "a copy's source");
    node->from_offset = take_uint(d, INT64_MAX, "a copy's offset");
    node->to = (uint32_t)take_uint(d, UINT32_MAX, "a copy's target");
    node->to_offset = take_uint(d, INT64_MAX, "a copy's offset");
    node->bytes = take_uint(d, INT64_MAX, "a copy's size");
    node->rows = (uint32_t)take_uint(d, UINT32_MAX, "a copy's rows");
    node->from_pitch = take_uint(d, INT64_MAX, "a copy's pitch");
    node->to_pitch = take_uint(d, INT64_MAX, "a copy's pitch");
    node->plane = (uint32_t)take_uint(d, UINT32_MAX, "a copy's rows of a slice");
    node->from_slice_pitch = take_uint(d, INT64_MAX, "a copy's slice pitch");
    node->to_slice_pitch = take_uint(d, INT64_MAX, "a copy's slice pitch");
    check_rows(d, node, node->from, node->from_offset, node->from_pitch, node->from_slice_pitch);
    check_rows(d, node, node->to, node->to_offset, node->to_pitch, node->to_slice_pitch);
    if (!d->failed && !node->rows && node->bytes && node->from == node->to &&
        node->from_offset < node->to_offset + node->bytes && node->to_offset < node->from_offset + node->bytes)
        fail(d, "node `%s` copies between bytes of buffer `%s` that overlap", node->name,
             d->graph->slots[node->from].name);
}

static void take_fill(struct decoder *d, struct proto_node *node)
{
    take_fields(d, FILL_FIELDS, "a fill node");
    node->to = (uint32_t)take_uint(d, UINT32_MAX, "a fill's target");
    node->to_offset = take_uint(d, INT64_MAX, "a fill's offset");
    node->bytes = take_uint(d, INT64_MAX, "a fill's size");
    struct cursor_item pattern = take(d, CURSOR_BYTES, "a pattern");
    if (d->failed) return;
    uint64_t n = pattern.number;
    if (n == 0 || n > sizeof node->pattern || (n & (n - 1)) != 0 || node->bytes % n != 0) {
        fail(d, "node `%s` fills %llu bytes with a pattern of %llu; 1, 2, 4, 8 or 16 that divide the size are possible",
             node->name, (unsigned long long)node->bytes, (unsigned long long)n);
        return;
    }
    memcpy(node->pattern, pattern.bytes, n);
    node->pattern_size = (uint32_t)n;
    node->rows = (uint32_t)take_uint(d, UINT32_MAX, "a fill's rows");
    node->to_pitch = take_uint(d, INT64_MAX, "a fill's pitch");
    node->plane = (uint32_t)take_uint(d, UINT32_MAX, "a fill's rows of a slice");
    node->to_slice_pitch = take_uint(d, INT64_MAX, "a fill's slice pitch");
    check_rows(d, node, node->to, node->to_offset, node->to_pitch, node->to_slice_pitch);
}

static void take_dependencies(struct decoder *d, struct proto_node *node)
{
    uint32_t n_deps = take_array(d, PROTO_MAX_NODES, "dependencies of a node");
    node->deps = make(d, n_deps, sizeof *node->deps);
    for (; !d->failed && node->n_deps < n_deps; node->n_deps++) {
        uint32_t on = (uint32_t)take_uint(d, UINT32_MAX, "a dependency");
        if (!d->failed && on >= d->graph->n_nodes)
            fail(d, "node `%s` depends on node %u; the graph has %u", node->name, on, d->graph->n_nodes);
        node->deps[node->n_deps] = on;
    }
}

static void take_node(struct decoder *d, struct proto_node *node)
{
    take_fields(d, NODE_FIELDS, "a node");
    node->kind = (uint8_t)take_uint(d, PROTO_NODE_COUNT - 1, "a node's kind");
    node->name = take_name(d, false, "a node's name");
    take_dependencies(d, node);
    switch (node->kind) {
    case PROTO_NODE_KERNEL: take_kernel(d, node); break;
    case PROTO_NODE_COPY: take_copy(d, node); break;
    case PROTO_NODE_FILL: take_fill(d, node); break;
    default: take_host(d, node); break;
    }
}

static void take_value(struct decoder *d, uint32_t i)
{
    struct proto_value *v = &d->graph->values[i];
    take_fields(d, VALUE_FIELDS, "a value");
    v->size = (uint32_t)take_uint(d, PROTO_MAX_VALUE_BYTES, "a value's size");
    v->alike = (uint32_t)take_uint(d, i + 1, "the value that another is like");
    v->number = take_uint(d, INT64_MAX, "a value's number");
    if (!d->failed && v->size == 0) fail(d, "value %u has no bytes", i);
    if (!d->failed && v->alike && d->graph->values[v->alike - 1].size != v->size)
        fail(d, "value %u is like one of another size", i);
}

static void take_graph(struct decoder *d, struct proto_graph *g)
{
    take_fields(d, GRAPH_FIELDS, "a graph");
    uint64_t format = take_uint(d, UINT32_MAX, "the graph's format");
    if (!d->failed && format != GRAPH_FORMAT)
        fail(d, "the graph has format %llu; %d is understood", (unsigned long long)format, GRAPH_FORMAT);
    g->n_modules = (uint32_t)take_uint(d, PROTO_MAX_MODULES, "the number of modules");

    g->n_slots = take_array(d, PROTO_MAX_SLOTS, "buffers");
    g->slots = make(d, g->n_slots, sizeof *g->slots);
    for (uint32_t i = 0; !d->failed && i < g->n_slots; i++) take_slot(d, &g->slots[i]);

    g->n_values = take_array(d, PROTO_MAX_VALUES, "values");
    g->values = make(d, g->n_values, sizeof *g->values);
    for (uint32_t i = 0; !d->failed && i < g->n_values; i++) take_value(d, i);

    g->n_nodes = take_array(d, PROTO_MAX_NODES, "nodes");
    g->nodes = make(d, g->n_nodes, sizeof *g->nodes);
    for (uint32_t i = 0; !d->failed && i < g->n_nodes; i++) take_node(d, &g->nodes[i]);
    if (!d->failed && d->cursor.at != d->cursor.end) fail(d, "the graph is malformed: bytes after its end");
}

struct proto_graph *proto_graph_decode(const void *bytes, size_t size, struct error *e)
{
    struct proto_graph *graph = calloc(1, sizeof *graph);
    struct decoder d = {.cursor = {bytes, (const uint8_t *)bytes + size}, .error = e, .graph = graph};
    if (!graph)
        fail(&d, "out of memory");
    else
        take_graph(&d, graph);
    if (!d.failed) return graph;
    proto_graph_free(graph);
    return NULL;
}

static void free_node(struct proto_node *node)
{
    free(node->name);
    free(node->kernel);
    free(node->args);
    free(node->deps);
}

void proto_graph_free(struct proto_graph *g)
{
    if (!g) return;
    /* A decoding that failed may have counts without arrays. */
    for (uint32_t i = 0; g->slots && i < g->n_slots; i++) free(g->slots[i].name);
    for (uint32_t i = 0; g->nodes && i < g->n_nodes; i++) free_node(&g->nodes[i]);
    free(g->slots);
    free(g->values);
    free(g->nodes);
    free(g);
}
