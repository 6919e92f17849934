/* From the wire graph to the fuser's. */
#include "daemon/compiler/translate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"

static ir_type element_type(uint8_t elem, uint8_t lanes)
{
    static const ir_type types[PROTO_ELEM_COUNT] = {
        [PROTO_ELEM_BYTES] = IR_VOID, [PROTO_ELEM_I8] = IR_I8,   [PROTO_ELEM_I16] = IR_I16, [PROTO_ELEM_I32] = IR_I32,
        [PROTO_ELEM_I64] = IR_I64,    [PROTO_ELEM_U8] = IR_I8,   [PROTO_ELEM_U16] = IR_I16, [PROTO_ELEM_U32] = IR_I32,
        [PROTO_ELEM_U64] = IR_I64,    [PROTO_ELEM_F16] = IR_F16, [PROTO_ELEM_F32] = IR_F32, [PROTO_ELEM_F64] = IR_F64};
    return elem == PROTO_ELEM_BYTES ? IR_VOID : ir_type_with_lanes(types[elem], lanes);
}

static struct fuser_props properties(const struct proto_props *p)
{
    static const enum fuser_scope scopes[PROTO_SCOPE_COUNT] = {[PROTO_SCOPE_NONE] = FUSER_SCOPE_NONE,
                                                               [PROTO_SCOPE_WORK_GROUP] = FUSER_SCOPE_WORK_GROUP,
                                                               [PROTO_SCOPE_WORK_ITEM] = FUSER_SCOPE_WORK_ITEM};
    return (struct fuser_props){scopes[p->access_scope], p->internal_memory, p->no_init};
}

static struct fuser_buffer buffer(const struct proto_slot *s)
{
    return (struct fuser_buffer){.name = s->name,
                                 .bytes = s->bytes,
                                 .elem = element_type(s->elem, s->lanes),
                                 .usm = s->usm,
                                 .props = properties(&s->props),
                                 .unread = s->unread,
                                 .image = s->image.width != 0,
                                 .form = (enum ir_image_form)s->image.type,
                                 .extent = {s->image.width, s->image.height, s->image.slices}};
}

static struct fuser_arg argument(const struct proto_arg *a)
{
    static const enum fuser_arg_kind kinds[PROTO_ARG_COUNT] = {
        [PROTO_ARG_SLOT] = FUSER_ARG_BUFFER, [PROTO_ARG_VALUE] = FUSER_ARG_VALUE, [PROTO_ARG_LOCAL] = FUSER_ARG_LOCAL};
    static const enum ir_access accesses[PROTO_ACCESS_COUNT] = {[PROTO_ACCESS_UNKNOWN] = IR_ACCESS_UNKNOWN,
                                                                [PROTO_ACCESS_READ] = IR_ACCESS_READ,
                                                                [PROTO_ACCESS_WRITE] = IR_ACCESS_WRITE,
                                                                [PROTO_ACCESS_READ_WRITE] = IR_ACCESS_READ_WRITE};
    return (struct fuser_arg){.kind = kinds[a->kind],
                              .index = a->index,
                              .access = accesses[a->access],
                              .offset = a->offset,
                              .bytes = a->bytes,
                              .props = properties(&a->props),
                              .view = a->image.width ? &a->image : NULL};
}

/* ---- kernels ---- */

/* "k has add, scale": what could have been meant. */
static void list_kernels(struct strbuf *out, const struct ir_module *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_functions; i++) {
        if (m->functions[i]->linkage != IR_LINKAGE_KERNEL) continue;
        strbuf_printf(out, "%s%s", n++ ? ", " : "it has ", m->functions[i]->name);
    }
    if (!n) strbuf_add(out, "it has none");
}

static const struct ir_function *find_kernel(const struct proto_node *node, const struct ir_module *m, struct error *e)
{
    const struct ir_function *f = ir_module_find(m, node->kernel);
    if (f && f->linkage == IR_LINKAGE_KERNEL) return f;
    char object[600];
    struct strbuf names = {0};
    list_kernels(&names, m);
    char *list = strbuf_take(&names);
    snprintf(object, sizeof object, "kernel %s.%s", m->name ? m->name : "", node->kernel);
    error_set(e, FUSION_NOT_FOUND, object, "node %s: the module has no such kernel; %s", node->name, list);
    free(list);
    return NULL;
}

static void translate_args(const struct proto_node *from, struct fuser_node *to, struct arena *arena)
{
    to->n_args = from->n_args;
    to->args = arena_alloc(arena, from->n_args * sizeof *to->args);
    for (uint32_t i = 0; i < from->n_args; i++) to->args[i] = argument(&from->args[i]);
}

/* Buffers that arguments take as images. */
static void mark_viewed(struct fuser_graph *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++)
        for (uint32_t k = 0; k < g->nodes[i].n_args; k++)
            if (g->nodes[i].args[k].view) g->buffers[g->nodes[i].args[k].index].viewed = true;
}

static int translate_kernel(const struct proto_node *from, struct ir_module *const *modules, struct fuser_node *to,
                            struct arena *arena, struct error *e)
{
    to->kernel = find_kernel(from, modules[from->module], e);
    if (!to->kernel) return -1;
    to->range.dims = from->dims;
    memcpy(to->range.global, from->global, sizeof to->range.global);
    memcpy(to->range.offset, from->offset, sizeof to->range.offset);
    memcpy(to->range.local, from->local, sizeof to->range.local);
    translate_args(from, to, arena);
    return 0;
}

static int translate_node(const struct proto_node *from, struct ir_module *const *modules, struct fuser_node *to,
                          struct arena *arena, struct error *e)
{
    *to = (struct fuser_node){.name = from->name, .n_deps = from->n_deps, .deps = from->deps};
    switch ((enum proto_node_kind)from->kind) {
    case PROTO_NODE_KERNEL: to->kind = FUSER_NODE_KERNEL; return translate_kernel(from, modules, to, arena, e);
    case PROTO_NODE_COPY: to->kind = FUSER_NODE_COPY; break;
    case PROTO_NODE_FILL: to->kind = FUSER_NODE_FILL; break;
    default:
        to->kind = FUSER_NODE_HOST;
        translate_args(from, to, arena);
        return 0;
    }
    to->from.buffer = from->from;
    to->to.buffer = from->to;
    to->from.offset = from->from_offset;
    to->to.offset = from->to_offset;
    to->bytes = from->bytes;
    to->rows = from->rows;
    to->from.pitch = from->from_pitch;
    to->to.pitch = from->to_pitch;
    to->plane = from->plane;
    to->from.slice_pitch = from->from_slice_pitch;
    to->to.slice_pitch = from->to_slice_pitch;
    to->pattern_size = from->pattern_size;
    memcpy(to->pattern, from->pattern, sizeof to->pattern);
    return 0;
}

struct fuser_graph *translate_graph(const struct proto_graph *wire, struct ir_module *const *modules,
                                    struct arena *arena, struct error *e)
{
    struct fuser_graph *g = arena_alloc(arena, sizeof *g);
    *g = (struct fuser_graph){.n_buffers = wire->n_slots,
                              .n_values = wire->n_values,
                              .n_nodes = wire->n_nodes,
                              .buffers = arena_alloc(arena, wire->n_slots * sizeof *g->buffers),
                              .values = arena_alloc(arena, wire->n_values * sizeof *g->values),
                              .nodes = arena_alloc(arena, wire->n_nodes * sizeof *g->nodes)};
    for (uint32_t i = 0; i < g->n_buffers; i++) g->buffers[i] = buffer(&wire->slots[i]);
    for (uint32_t i = 0; i < g->n_values; i++)
        g->values[i] =
            (struct fuser_value){wire->values[i].size, wire->values[i].alike, (int64_t)wire->values[i].number};
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (translate_node(&wire->nodes[i], modules, &g->nodes[i], arena, e) != 0) return NULL;
    mark_viewed(g);
    return g;
}
