/* Makes the arguments of a kernel and the variables of its module ready: checks them against the
   parameters, gives them addresses and shadows. */
#include "ir/interp/bind.h"

#include <inttypes.h>
#include <string.h>

#include "ir/analysis/reachable_globals.h"
#include "ir/interp/image.h"
#include "ir/interp/memory.h"
#include "ir/interp/pipe.h"
#include "ir/interp/report.h"
#include "ir/interp/shadow.h"
#include "ir/interp/value.h"

/* ---- buffers ---- */

/* Buffers that overlap are one piece of memory with one shadow. */
struct region {
    uint8_t *from, *to;
    uint8_t *written;
    struct race_cell *cells;
};

static bool is_buffer(const struct interp_arg *arg)
{
    return arg->kind == INTERP_ARG_BUFFER && arg->data && arg->size;
}

static void widen_region(const struct machine *m, struct region *r)
{
    for (bool grown = true; grown;) {
        grown = false;
        for (uint32_t i = 0; i < m->kernel->n_params; i++) {
            uint8_t *from = m->args[i].data, *to = from + m->args[i].size;
            if (!is_buffer(&m->args[i]) || from >= r->to || to <= r->from) continue;
            grown |= from < r->from || to > r->to;
            if (from < r->from) r->from = from;
            if (to > r->to) r->to = to;
        }
    }
}

/* A byte is unwritten when one of the buffers over it says so. */
static void note_unwritten(const struct machine *m, struct region *r)
{
    memset(r->written, 1, (size_t)(r->to - r->from));
    for (uint32_t i = 0; i < m->kernel->n_params; i++) {
        const struct interp_arg *arg = &m->args[i];
        uint8_t *from = arg->data;
        if (!is_buffer(arg) || !arg->written || from < r->from || from >= r->to) continue;
        for (uint64_t k = 0; k < arg->size; k++) r->written[from - r->from + (ptrdiff_t)k] &= arg->written[k] != 0;
    }
}

static struct region *region_of(struct machine *m, struct region *regions, uint32_t *n, const struct interp_arg *arg)
{
    struct region r = {.from = arg->data, .to = (uint8_t *)arg->data + arg->size};
    widen_region(m, &r);
    for (uint32_t i = 0; i < *n; i++)
        if (regions[i].from == r.from) return &regions[i];
    uint64_t size = (uint64_t)(r.to - r.from);
    if (m->options.check_unwritten) {
        r.written = interp_shadow(m, size, 1);
        if (r.written) note_unwritten(m, &r);
    }
    if (m->options.check_races) r.cells = interp_shadow(m, size, sizeof *r.cells);
    regions[*n] = r;
    return &regions[(*n)++];
}

static uint64_t bind_buffer(struct machine *m, uint32_t i, struct region *regions, uint32_t *n)
{
    const struct interp_arg *arg = &m->args[i];
    const struct ir_param *p = &m->kernel->params[i];
    if (!arg->data) return 0;
    enum ir_space space = ir_type_space(p->value->type);
    if (space == IR_SPACE_GENERIC) space = IR_SPACE_GLOBAL;
    struct allocation a = {.data = arg->data,
                           .size = arg->size,
                           .space = space,
                           .fence = IR_FENCE_GLOBAL,
                           .no_read = p->access == IR_ACCESS_WRITE,
                           .no_write = p->access == IR_ACCESS_READ || space == IR_SPACE_CONSTANT,
                           .origin = MEMORY_ARG,
                           .index = i,
                           .name = p->value->name};
    if (is_buffer(arg)) {
        struct region *r = region_of(m, regions, n, arg);
        ptrdiff_t offset = a.data - r->from;
        if (r->written) a.written = r->written + offset;
        if (r->cells) a.cells = r->cells + offset;
    }
    return interp_memory_add(&m->memory, &a);
}

/* ---- memory that the machine makes ---- */

static uint64_t bind_memory(struct machine *m, struct allocation a)
{
    bool local = a.space == IR_SPACE_LOCAL;
    if (local && a.size > MAX_OWN_MEMORY) {
        interp_report(m, INTERP_LIMIT, NULL, NULL,
                      "local memory `%s` of %" PRIu64 " bytes is more than the interpreter's %d", a.name ? a.name : "?",
                      a.size, MAX_OWN_MEMORY);
        m->stopped = true;
        return 0;
    }
    a.fence = local ? IR_FENCE_LOCAL : IR_FENCE_GLOBAL;
    a.no_write = a.space == IR_SPACE_CONSTANT;
    a.data = interp_shadow(m, a.size, 1);
    if (a.init && a.data) memcpy(a.data, a.init, a.size);
    if (local && m->options.check_unwritten) a.written = interp_shadow(m, a.size, 1);
    if (!a.no_write && m->options.check_races) a.cells = interp_shadow(m, a.size, sizeof *a.cells);
    return interp_memory_add(&m->memory, &a);
}

static void bind_global(struct machine *m, const struct ir_global *g)
{
    if (g->linkage == IR_LINKAGE_IMPORT || ir_type_kind(g->type) == IR_KIND_PIPE) return;
    m->globals[g->scratch] = bind_memory(m, (struct allocation){.size = ir_type_size(m->module, g->type),
                                                                .space = g->space,
                                                                .origin = MEMORY_GLOBAL,
                                                                .name = g->name,
                                                                .init = g->init});
}

/* Addresses in its initial value, once all have theirs. */
static void fill_in_addresses(struct machine *m, const struct ir_global *g)
{
    struct allocation *memory = interp_memory_find(&m->memory, m->globals[g->scratch]);
    for (uint32_t i = 0; memory && memory->data && i < g->n_addresses; i++) {
        const struct ir_address *a = &g->addresses[i];
        uint64_t address = m->globals[a->target->scratch];
        if (address) address += a->at;
        memcpy(memory->data + a->offset, &address, sizeof address);
        if (address) continue;
        interp_report(m, INTERP_INVALID, NULL, NULL, "variable `%s` holds the address of `%s`, which has no memory",
                      g->name, a->target->name);
        m->stopped = true;
    }
}

static void bind_globals(struct machine *m)
{
    struct ir_held needed;
    ir_held_open(&needed, m->module);
    m->globals = arena_alloc(m->arena, (m->module->n_globals + 1) * sizeof *m->globals);
    for (uint32_t i = 0; i < m->code.n_insts; i++) {
        const struct ir_inst *inst = m->code.insts[i]->ir;
        if (inst->op == IR_OP_GLOBAL) ir_held_add(&needed, inst->attrs.global);
    }
    for (uint32_t i = 0; i < needed.n; i++) bind_global(m, needed.list[i]);
    for (uint32_t i = 0; i < needed.n; i++) fill_in_addresses(m, needed.list[i]);
    ir_held_close(&needed);
}

void interp_bind_group(struct machine *m)
{
    for (uint32_t i = 1; i < m->n_bound; i++) {
        struct allocation *a = &m->memory.items[i];
        if (a->space != IR_SPACE_LOCAL) continue;
        if (a->init)
            memcpy(a->data, a->init, a->size);
        else
            memset(a->data, 0, a->size);
        if (a->written) memset(a->written, a->init != NULL, a->size);
        if (a->cells) memset(a->cells, 0, a->size * sizeof *a->cells);
    }
}

/* ---- arguments ---- */

static bool refuse(struct machine *m, uint32_t i, const char *why)
{
    const char *name = m->kernel->params[i].value->name;
    interp_report(m, INTERP_INVALID, NULL, NULL, "argument %u `%s` of kernel `%s` %s", i, name ? name : "?",
                  m->kernel->name, why);
    return false;
}

static bool refuse_size(struct machine *m, uint32_t i, uint64_t wanted)
{
    const char *name = m->kernel->params[i].value->name;
    interp_report(m, INTERP_INVALID, NULL, NULL,
                  "argument %u `%s` of kernel `%s` has %" PRIu64 " bytes, not the %" PRIu64 " of its type", i,
                  name ? name : "?", m->kernel->name, m->args[i].size, wanted);
    return false;
}

static enum interp_arg_kind wanted_kind(const struct ir_param *p)
{
    switch (ir_type_kind(p->value->type)) {
    case IR_KIND_IMAGE: return INTERP_ARG_IMAGE;
    case IR_KIND_PIPE: return INTERP_ARG_PIPE;
    case IR_KIND_PTR:
        if (p->by_value) return INTERP_ARG_BYTES;
        return ir_type_space(p->value->type) == IR_SPACE_LOCAL ? INTERP_ARG_LOCAL : INTERP_ARG_BUFFER;
    default: return INTERP_ARG_BYTES;
    }
}

static bool bind_bytes(struct machine *m, uint32_t i, uint64_t *value)
{
    const struct interp_arg *arg = &m->args[i];
    const struct ir_param *p = &m->kernel->params[i];
    ir_type t = p->value->type;
    if (!arg->data) return refuse(m, i, "has no data");
    if (p->by_value)
        return arg->size == ir_type_size(m->module, p->elem) || refuse_size(m, i, ir_type_size(m->module, p->elem));
    if (ir_type_kind(t) == IR_KIND_SAMPLER && arg->size == 4) t = IR_I32;
    if (arg->size != ir_type_size(m->module, t)) return refuse_size(m, i, ir_type_size(m->module, t));
    interp_value_read(t, arg->data, value);
    return true;
}

static bool bind_pipe(struct machine *m, uint32_t i, uint64_t *value)
{
    struct interp_pipe *pipe = m->args[i].data;
    if (!pipe || !pipe->packets || !pipe->capacity || !pipe->packet_size)
        return refuse(m, i, "is a pipe without room for packets");
    if (pipe->read > pipe->written || pipe->written - pipe->read > pipe->capacity)
        return refuse(m, i, "is a pipe with more packets than it has room for");
    *value = interp_pipe_add(m, pipe, NULL);
    return true;
}

static bool bind_image(struct machine *m, uint32_t i, uint64_t *value)
{
    const char *why;
    if (!m->args[i].data) return refuse(m, i, "is no image");
    return interp_image_bind(m, &m->args[i], i, value, &why) || refuse(m, i, why);
}

static bool bind_arg(struct machine *m, uint32_t i, struct region *regions, uint32_t *n_regions)
{
    static const char *const wrong[] = {"must be a buffer", "must be bytes", "must be local memory", "must be an image",
                                        "must be a pipe"};
    const struct ir_param *p = &m->kernel->params[i];
    const struct interp_arg *arg = &m->args[i];
    uint64_t *value = m->arg_values + (size_t)i * IR_MAX_LANES;
    enum interp_arg_kind kind = wanted_kind(p);
    if (arg->kind != kind) return refuse(m, i, wrong[kind]);
    switch (kind) {
    case INTERP_ARG_BUFFER:
        if (ir_type_space(p->value->type) == IR_SPACE_PRIVATE)
            return refuse(m, i, "points to private memory, which no argument can be");
        *value = bind_buffer(m, i, regions, n_regions);
        return true;
    case INTERP_ARG_LOCAL:
        *value = bind_memory(m, (struct allocation){.size = arg->size,
                                                    .space = IR_SPACE_LOCAL,
                                                    .origin = MEMORY_LOCAL_ARG,
                                                    .index = i,
                                                    .name = p->value->name});
        return true;
    case INTERP_ARG_BYTES: return bind_bytes(m, i, value);
    case INTERP_ARG_IMAGE: return bind_image(m, i, value);
    case INTERP_ARG_PIPE: return bind_pipe(m, i, value);
    }
    return false;
}

bool interp_bind(struct machine *m)
{
    uint32_t n = m->kernel->n_params, n_regions = 0;
    struct region *regions = arena_alloc(m->arena, (n + 1) * sizeof *regions);
    m->arg_values = arena_alloc(m->arena, (n + 1) * IR_MAX_LANES * sizeof *m->arg_values);
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) ok &= bind_arg(m, i, regions, &n_regions);
    bind_globals(m);
    m->n_bound = m->memory.n;
    return ok && !m->stopped;
}
