/* A plan as bytes. */
#include "daemon/compiler/plan_pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/access/access.h"
#include "fuser/access/footprint.h"
#include "fuser/assertions/assertion_check.h"
#include "fuser/graph/props.h"
#include "fuser/graph/range.h"
#include "ir/analysis/pipe_uses.h"
#include "ir/base/arena.h"
#include "ir/msgpack/codec.h"
#include "ir/text/print/print.h"
#include "proto/limits.h"

/* ---- msgpack by key ---- */

static void put_text(msgpack_packer *k, const char *s)
{
    msgpack_pack_str_with_body(k, s, strlen(s));
}

static void put_uint(msgpack_packer *k, const char *key, uint64_t n)
{
    put_text(k, key);
    msgpack_pack_uint64(k, n);
}

static void put_string(msgpack_packer *k, const char *key, const char *s)
{
    put_text(k, key);
    put_text(k, s ? s : "");
}

static void put_flag(msgpack_packer *k, const char *key, bool b)
{
    put_text(k, key);
    b ? msgpack_pack_true(k) : msgpack_pack_false(k);
}

static void put_list(msgpack_packer *k, const char *key, size_t n)
{
    put_text(k, key);
    msgpack_pack_array(k, n);
}

static void put_numbers(msgpack_packer *k, const char *key, const uint32_t *numbers, uint32_t n)
{
    put_list(k, key, n);
    for (uint32_t i = 0; i < n; i++) msgpack_pack_uint32(k, numbers[i]);
}

static void put_triple(msgpack_packer *k, const char *key, const uint64_t v[3])
{
    put_list(k, key, 3);
    for (int i = 0; i < 3; i++) msgpack_pack_uint64(k, v[i]);
}

/* ---- the report ---- */

static void report_launch(msgpack_packer *k, const struct fuser_launch *l, bool keep_ir)
{
    msgpack_pack_map(k, keep_ir ? 5 : 4);
    put_numbers(k, "nodes", l->nodes, l->n_nodes);
    put_string(k, "kernel", l->kernel->name);
    put_uint(k, "bytes", l->traffic);
    put_uint(k, "predicted_ns", l->predicted_ns);
    if (!keep_ir) return;
    char *text = ir_print(l->module);
    put_string(k, "ir", text);
    free(text);
}

static void report_remark(msgpack_packer *k, const struct fuser_remark *r)
{
    msgpack_pack_map(k, 4);
    put_string(k, "code", r->code);
    put_string(k, "node", r->node);
    put_string(k, "buffer", r->buffer);
    put_string(k, "text", r->text);
}

/* In the order of the program's: a launch by its number, a node by -1 - its number. */
static void report_steps(msgpack_packer *k, const struct plan_source *s)
{
    const struct fuser_plan *p = s->plan;
    put_list(k, "steps", s->apart ? 0 : p->n_steps); /* debug runs have others */
    for (uint32_t i = 0; i < p->n_steps && !s->apart; i++)
        msgpack_pack_int64(k, p->steps[i].kind == FUSER_STEP_LAUNCH ? (int64_t)p->steps[i].index
                                                                    : -1 - (int64_t)p->steps[i].index);
}

void plan_pack_report(msgpack_packer *k, const struct plan_source *s)
{
    static const char *const home_names[] = {
        [FUSER_STORAGE_MEMORY] = "memory",
        [FUSER_STORAGE_PRIVATE] = "private",
        [FUSER_STORAGE_LOCAL] = "local",
        [FUSER_STORAGE_NOWHERE] = "none",
    };
    const struct fuser_plan *p = s->plan;
    msgpack_pack_map(k, 8);
    put_numbers(k, "order", p->order, p->n_order);
    report_steps(k, s);
    put_list(k, "launches", p->n_launches);
    for (uint32_t i = 0; i < p->n_launches; i++) report_launch(k, &p->launches[i], s->keep_ir);
    put_list(k, "homes", s->graph->n_buffers);
    for (uint32_t i = 0; i < s->graph->n_buffers; i++) put_text(k, p->rings[i] ? "ring" : home_names[p->storage[i]]);
    put_list(k, "saved", s->graph->n_buffers);
    for (uint32_t i = 0; i < s->graph->n_buffers; i++) msgpack_pack_uint64(k, p->saved[i]);
    put_list(k, "remarks", p->n_remarks);
    for (uint32_t i = 0; i < p->n_remarks; i++) report_remark(k, &p->remarks[i]);
    put_uint(k, "bytes_unfused", p->bytes_unfused);
    put_uint(k, "bytes_fused", p->bytes_fused);
}

/* ---- the program ---- */

enum { PARAM_SLOT, PARAM_VALUE, PARAM_LOCAL, PARAM_IMAGE, PARAM_STATE };

/* What the executor calls a parameter. */
static unsigned param_kind(const struct fuser_launch *l, uint32_t i)
{
    if (ir_type_kind(l->kernel->params[i].value->type) == IR_KIND_IMAGE) return PARAM_IMAGE;
    switch (l->params[i].kind) {
    case FUSER_PARAM_BUFFER: return PARAM_SLOT;
    case FUSER_PARAM_VALUE: return PARAM_VALUE;
    case FUSER_PARAM_PROGRAM_VARIABLE: return PARAM_STATE;
    case FUSER_PARAM_LOCAL: break;
    }
    return PARAM_LOCAL;
}

/* Might the launch write what the parameter points at? Where the analysis loses the pointer, yes. */
static bool may_write(const struct fuser_launch *l, const struct access_analysis *a, uint32_t param)
{
    ir_type type = l->kernel->params[param].value->type;
    if (l->params[param].kind != FUSER_PARAM_BUFFER) return false;
    if (ir_type_kind(type) == IR_KIND_IMAGE) return ir_type_handle_access(type) != IR_HANDLE_READ;
    return a->params[param].writes || a->params[param].escapes || a->unknown_writes;
}

static uint64_t param_size(const struct ir_function *kernel, uint32_t i)
{
    const struct ir_param *p = &kernel->params[i];
    return ir_type_size(kernel->module, p->by_value ? p->elem : p->value->type);
}

/* What is asserted of the buffer that parameter `param` of a node's own launch gets: what all of the node's accessors
   on it say. A host task may have written it, of which the executor learns nothing. Then to whom its elements belong
   where it has no memory: what was proved is watched like what was asserted. */
static void program_assertion(msgpack_packer *k, const struct plan_source *s, const struct fuser_launch *own,
                              uint32_t param)
{
    static const enum assertion_scope owners[] = {[FUSER_STORAGE_MEMORY] = ASSERTION_SCOPE_ANY,
                                                  [FUSER_STORAGE_PRIVATE] = ASSERTION_SCOPE_WORK_ITEM,
                                                  [FUSER_STORAGE_LOCAL] = ASSERTION_SCOPE_WORK_GROUP,
                                                  [FUSER_STORAGE_NOWHERE] = ASSERTION_SCOPE_ANY};
    const struct fuser_node *node = &s->graph->nodes[own->nodes[0]];
    uint32_t buffer = own->params[param].index;
    struct fuser_props all = {.no_init = true};
    bool first = true;
    for (uint32_t i = 0; i < node->n_args; i++) {
        struct fuser_props props;
        if (node->args[i].kind != FUSER_ARG_BUFFER || node->args[i].index != buffer) continue;
        fuser_props_inherit(&s->graph->buffers[buffer].props, &node->args[i].props, &props);
        all.access_scope = first ? props.access_scope : fuser_scope_merge(all.access_scope, props.access_scope);
        all.no_init &= props.no_init;
        first = false;
    }
    for (uint32_t i = 0; i < s->graph->n_nodes; i++)
        for (uint32_t a = 0; a < s->graph->nodes[i].n_args && s->graph->nodes[i].kind == FUSER_NODE_HOST; a++)
            if (s->graph->nodes[i].args[a].index == buffer && s->graph->nodes[i].args[a].access != IR_ACCESS_READ)
                all.no_init = false;
    put_uint(k, "scope", all.access_scope);
    put_flag(k, "no_init", all.no_init);
    put_uint(k, "kept", owners[s->plan->storage[buffer]]);
}

/* The form of the image that a parameter gets. */
static void program_image(msgpack_packer *k, const struct plan_source *s, const struct fuser_param *p)
{
    const struct proto_image *i = p->view ? p->view : &s->wire->slots[p->index].image;
    put_list(k, "image", 8);
    const uint32_t fields[] = {i->width,        i->height, i->row_pitch, i->channel_order,
                               i->channel_type, i->type,   i->slices};
    for (unsigned f = 0; f < 7; f++) msgpack_pack_uint32(k, fields[f]);
    msgpack_pack_uint64(k, i->slice_pitch);
}

/* What the kernel does with the pipe that a parameter is, and where. */
static struct ir_pipe_uses pipe_uses(const struct fuser_launch *l, uint32_t param)
{
    bool pipe = ir_type_kind(l->kernel->params[param].value->type) == IR_KIND_PIPE;
    return pipe ? ir_pipe_uses_of_param(l->kernel, param) : (struct ir_pipe_uses){0};
}

/* How much memory a parameter's stores touch; less than it has where the range leads to a part. 0: not known. */
static uint64_t written_bytes(const struct fuser_launch *l, const struct access_analysis *a, uint32_t param)
{
    if (param_kind(l, param) != PARAM_SLOT || a->unknown_writes) return 0;
    uint64_t bytes = footprint_bytes_one_way(&a->params[param], &l->range, INT64_MAX, true);
    return bytes < INT64_MAX ? bytes : 0;
}

static void program_params(msgpack_packer *k, const struct plan_source *s, const struct fuser_launch *l,
                           const struct access_analysis *a, const uint32_t *offsets)
{
    put_list(k, "params", l->n_params);
    for (uint32_t i = 0; i < l->n_params; i++) {
        const struct fuser_param *p = &l->params[i];
        bool watched = s->apart && param_kind(l, i) == PARAM_SLOT;
        bool image = param_kind(l, i) == PARAM_IMAGE;
        struct ir_pipe_uses pipe = pipe_uses(l, i);
        uint64_t written = written_bytes(l, a, i);
        msgpack_pack_map(k, (watched ? 9 : image ? 7 : 6) + pipe.reads + pipe.writes + pipe.polls + (written ? 1 : 0));
        if (written) put_uint(k, "written", written);
        if (pipe.polls) put_flag(k, "polls", true);
        if (pipe.reads) put_uint(k, "takes", pipe.read_line);
        if (pipe.writes) put_uint(k, "puts", pipe.write_line);
        if (image) program_image(k, s, p);
        if (watched) program_assertion(k, s, l, i);
        put_uint(k, "kind", param_kind(l, i));
        put_uint(k, "index", p->index);
        put_uint(k, "offset", p->offset);
        put_uint(k, "at", offsets[i]);
        put_uint(k, "size", param_size(l->kernel, i));
        put_flag(k, "writes", may_write(l, a, i));
    }
}

/* The launch that a kernel node is in. */
static uint32_t launch_of(const struct fuser_plan *plan, uint32_t node)
{
    for (uint32_t i = 0; i < plan->n_launches; i++)
        for (uint32_t n = 0; n < plan->launches[i].n_nodes; n++)
            if (plan->launches[i].nodes[n] == node) return i;
    return UINT32_MAX; /* never: each kernel is in one */
}

static void program_range(msgpack_packer *k, const char *key, const struct nd_range *range)
{
    put_text(k, key);
    msgpack_pack_map(k, 4);
    put_uint(k, "dims", range->dims);
    put_triple(k, "global", range->global);
    put_triple(k, "offset", range->offset);
    put_triple(k, "local", range->local);
}

/* One stands before the node's kernel. */
static bool has_barrier(const struct fuser_launch *launch, uint32_t node)
{
    uint32_t i = 0;
    while (launch->nodes[i] != node) i++;
    return launch->barriers[i];
}

/* Of a node's own launch, to debug: what it would be a part of. */
static void program_watched(msgpack_packer *k, const struct plan_source *s, const struct fuser_launch *own)
{
    const struct fuser_node *node = &s->graph->nodes[own->nodes[0]];
    uint32_t launch = launch_of(s->plan, own->nodes[0]);
    const struct fuser_launch *whole = &s->plan->launches[launch];
    put_string(k, "node", node->name);
    put_uint(k, "launch", launch);
    put_flag(k, "linear", !range_is_box(&node->range, &whole->range));
    put_flag(k, "barrier", has_barrier(whole, own->nodes[0]));
    program_range(k, "launched", &whole->range);
}

static void program_condition_list(msgpack_packer *k, const struct fuser_condition *conditions, uint32_t n)
{
    put_list(k, "conditions", n);
    for (uint32_t i = 0; i < n; i++) {
        const struct fuser_condition *c = &conditions[i];
        msgpack_pack_array(k, c->is_pipe ? 1 : c->at_least ? 4 : 3);
        msgpack_pack_uint32(k, c->value);
        if (c->is_pipe) continue;
        msgpack_pack_uint32(k, c->like);
        msgpack_pack_uint64(k, (uint64_t)c->number);
        if (c->at_least) msgpack_pack_true(k);
    }
}

/* What must hold of values and pipes for the launch, and which launches run instead of it where that does not. */
static void program_conditions(msgpack_packer *k, const struct plan_source *s, const struct fuser_launch *l)
{
    program_condition_list(k, l->conditions, l->n_conditions);
    put_uint(k, "spares", s->plan->n_launches + l->first_spare);
    put_uint(k, "n_spares", l->n_spares);
}

static void program_launch(msgpack_packer *k, const struct plan_source *s, const struct fuser_launch *l)
{
    uint32_t *offsets = arena_realloc(NULL, (l->kernel->n_params + 1) * sizeof *offsets);
    bool interprets = !s->device->check;
    bool waits = ir_waits_for_pipes(l->kernel);
    struct access_analysis *a =
        access_analyse(l->kernel, &l->range, 0, l->kernel->assumes & IR_ASSUME_SMALL_MEMORY, NULL);
    bool anywhere = a->unknown_reads || a->unknown_writes;
    msgpack_pack_map(k, (interprets ? 5 : 4) + waits + (s->apart ? 5 : 0) + (l->n_conditions ? 3 : 0) + l->together +
                            l->last + anywhere);
    if (s->apart) program_watched(k, s, l);
    if (l->n_conditions) program_conditions(k, s, l);
    if (waits) put_flag(k, "waits", true);
    if (l->together) put_flag(k, "together", true);
    if (l->last) put_flag(k, "last", true);
    if (anywhere) put_flag(k, "anywhere", true);
    put_string(k, "name", l->kernel->name);
    put_uint(k, "args_size", ir_param_layout(l->kernel, offsets));
    program_range(k, "range", &l->range);
    program_params(k, s, l, a, offsets);
    access_analysis_free(a);
    free(offsets);
    if (!interprets) return;
    size_t size;
    uint8_t *ir = ir_encode(l->module, &size);
    put_text(k, "ir");
    msgpack_pack_bin_with_body(k, ir, size);
    free(ir);
}

_Static_assert((int)FUSER_MOST_TOGETHER <= (int)PROTO_MAX_TOGETHER, "the executor runs as many");

static void step_launch(msgpack_packer *k, uint32_t launch, bool together)
{
    msgpack_pack_array(k, together ? 3 : 2);
    msgpack_pack_uint32(k, 0);
    msgpack_pack_uint32(k, launch);
    if (together) msgpack_pack_true(k);
}

/* A launch; to debug, one for each of its nodes. */
static void program_launches(msgpack_packer *k, const struct plan_source *s, uint32_t launch, bool together)
{
    const struct fuser_launch *l = &s->plan->launches[launch];
    if (!s->apart) step_launch(k, launch, together);
    for (uint32_t i = 0; i < l->n_nodes && s->apart; i++) step_launch(k, launch_of(s->apart, l->nodes[i]), false);
}

static uint32_t count_steps(const struct plan_source *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->plan->n_steps; i++) {
        const struct fuser_step *step = &s->plan->steps[i];
        n += s->apart && step->kind == FUSER_STEP_LAUNCH ? s->plan->launches[step->index].n_nodes : 1;
    }
    return n;
}

static void program_step(msgpack_packer *k, const struct plan_source *s, const struct fuser_step *step)
{
    const struct fuser_graph *g = s->graph;
    if (step->kind == FUSER_STEP_LAUNCH) {
        program_launches(k, s, step->index, step->together);
        return;
    }
    const struct fuser_node *n = &g->nodes[step->index];
    if (n->kind == FUSER_NODE_HOST) {
        msgpack_pack_array(k, 1);
        msgpack_pack_uint32(k, 3);
        return;
    }
    bool copy = n->kind == FUSER_NODE_COPY;
    uint32_t fields = copy ? 6 : 5;
    if (n->rows) fields += copy ? 6 : 4;
    msgpack_pack_array(k, fields);
    msgpack_pack_uint32(k, copy ? 1 : 2);
    if (copy) {
        msgpack_pack_uint32(k, n->from.buffer);
        msgpack_pack_uint64(k, n->from.offset);
    }
    msgpack_pack_uint32(k, n->to.buffer);
    msgpack_pack_uint64(k, n->to.offset);
    msgpack_pack_uint64(k, n->bytes);
    if (!copy) msgpack_pack_bin_with_body(k, n->pattern, n->pattern_size);
    if (!n->rows) return;
    msgpack_pack_uint32(k, n->rows);
    if (copy) msgpack_pack_uint64(k, n->from.pitch);
    msgpack_pack_uint64(k, n->to.pitch);
    msgpack_pack_uint32(k, n->plane);
    if (copy) msgpack_pack_uint64(k, n->from.slice_pitch);
    msgpack_pack_uint64(k, n->to.slice_pitch);
}

/* Buffers that a launch, copy or fill touches; what only host tasks use need not be attached. */
static bool *used_buffers(const struct plan_source *s, const struct fuser_plan *runs)
{
    bool *used = memset(arena_realloc(NULL, s->graph->n_buffers + 1), 0, s->graph->n_buffers + 1);
    for (uint32_t i = 0; i < runs->n_launches; i++) {
        const struct fuser_launch *l = &runs->launches[i];
        for (uint32_t k = 0; k < l->n_params; k++)
            if (l->params[k].kind == FUSER_PARAM_BUFFER) used[l->params[k].index] = true;
    }
    for (uint32_t i = 0; i < runs->n_spares; i++)
        for (uint32_t k = 0; k < runs->spares[i].n_params; k++)
            if (runs->spares[i].params[k].kind == FUSER_PARAM_BUFFER) used[runs->spares[i].params[k].index] = true;
    for (uint32_t i = 0; i < s->graph->n_nodes; i++) {
        const struct fuser_node *n = &s->graph->nodes[i];
        if (n->kind == FUSER_NODE_COPY) used[n->from.buffer] = true;
        if (n->kind == FUSER_NODE_COPY || n->kind == FUSER_NODE_FILL) used[n->to.buffer] = true;
    }
    return used;
}

static void program_slot(msgpack_packer *k, const struct plan_source *s, uint32_t i, bool used)
{
    const struct fuser_buffer *b = &s->graph->buffers[i];
    bool spare = used && !s->apart && s->plan->storage[i] != FUSER_STORAGE_MEMORY, ring = s->plan->rings[i] != 0;
    msgpack_pack_map(k, 3 + (s->apart ? 2 : 0) + spare + ring);
    if (spare) put_flag(k, "spare", true);
    if (ring) put_uint(k, "ring", s->plan->rings[i]);
    if (s->apart) {
        put_flag(k, "scratch", s->plan->storage[i] != FUSER_STORAGE_MEMORY);
        put_uint(k, "elem_bytes", b->elem == IR_VOID ? 0 : (ir_type_bits(b->elem) + 7) / 8);
    }
    put_string(k, "name", b->name);
    put_uint(k, "bytes", b->bytes);
    put_flag(k, "needed", used && !ring && s->plan->storage[i] == FUSER_STORAGE_MEMORY);
}

/* The number of the kernel's module in the graph. */
static uint32_t module_number(const struct plan_source *s, const struct ir_module *m)
{
    uint32_t i = 0;
    while (s->graph->nodes[i].kind != FUSER_NODE_KERNEL || s->graph->nodes[i].kernel->module != m) i++;
    return s->wire->nodes[i].module;
}

static uint32_t variable_number(const struct fuser_program_variable *state)
{
    uint32_t i = 0;
    while (state->module->globals[i] != state->global) i++;
    return i;
}

static bool is_zero(const uint8_t *bytes, uint64_t n)
{
    return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

/* Which ends kernels of the module have: 1 they take, 2 they put. */
static uint32_t kernels_ends(const struct fuser_program_variable *state)
{
    struct ir_pipe_uses uses = ir_pipe_uses_of_global(state->module, state->global);
    return (uses.reads ? 1 : 0) | (uses.writes ? 2 : 0);
}

static void program_state(msgpack_packer *k, const struct plan_source *s, const struct fuser_program_variable *state)
{
    const struct ir_global *g = state->global;
    bool pipe = ir_type_kind(g->type) == IR_KIND_PIPE;
    uint64_t bytes = pipe ? 0 : ir_type_size(state->module, g->type);
    uint32_t ends = pipe ? kernels_ends(state) : 0;
    uint32_t host = g->host_access && ends < 3 ? ends : 0; /* where they have both there is none for the host */
    bool init = g->init && !pipe && !is_zero(g->init, bytes);
    char name[PROTO_MAX_NAME + 1];
    snprintf(name, sizeof name, "%s", g->name);
    msgpack_pack_map(k, 6 + init + (host ? 1 : 0) + (ends ? 1 : 0));
    put_string(k, "name", name);
    put_uint(k, "module", module_number(s, state->module));
    put_uint(k, "variable", variable_number(state));
    put_uint(k, "bytes", bytes);
    put_uint(k, "packet", pipe ? ir_type_size(state->module, g->packet) : 0);
    put_uint(k, "capacity", pipe ? g->capacity : 0);
    if (host) put_uint(k, "host", host);
    if (ends) put_uint(k, "ends", ends);
    if (!init) return;
    put_text(k, "init");
    msgpack_pack_bin_with_body(k, g->init, bytes);
}

static void program_bands(msgpack_packer *k, const struct fuser_plan *p)
{
    put_list(k, "bands", p->n_bands);
    for (uint32_t i = 0; i < p->n_bands; i++) {
        const struct fuser_bands *b = &p->bands[i];
        msgpack_pack_map(k, 5);
        put_uint(k, "first", b->first_step);
        put_uint(k, "at_once", b->at_once);
        put_uint(k, "steps", b->n_steps);
        put_list(k, "ends", b->n_bands * b->n_steps);
        for (uint64_t n = 0; n < (uint64_t)b->n_bands * b->n_steps; n++) msgpack_pack_uint64(k, b->ends[n]);
        program_condition_list(k, b->conditions, b->n_conditions);
    }
}

void plan_pack_program(msgpack_packer *k, const struct plan_source *s)
{
    const struct fuser_plan *p = s->plan, *runs = s->apart ? s->apart : p;
    const struct fuser_graph *g = s->graph;
    msgpack_pack_map(k, 7 + (p->n_bands ? 1 : 0));
    if (p->n_bands) program_bands(k, p);
    put_string(k, "device", s->device->runs_as);
    put_flag(k, "debug", s->apart != NULL);
    put_list(k, "launches", runs->n_launches + runs->n_spares);
    for (uint32_t i = 0; i < runs->n_launches; i++) program_launch(k, s, &runs->launches[i]);
    for (uint32_t i = 0; i < runs->n_spares; i++) program_launch(k, s, &runs->spares[i]);
    put_list(k, "steps", count_steps(s));
    for (uint32_t i = 0; i < p->n_steps; i++) program_step(k, s, &p->steps[i]);
    bool *used = used_buffers(s, runs);
    put_list(k, "slots", g->n_buffers);
    for (uint32_t i = 0; i < g->n_buffers; i++) program_slot(k, s, i, used[i]);
    free(used);
    put_list(k, "values", g->n_values);
    for (uint32_t i = 0; i < g->n_values; i++) msgpack_pack_uint32(k, g->values[i].size);
    put_list(k, "states", runs->n_program_variables);
    for (uint32_t i = 0; i < runs->n_program_variables; i++) program_state(k, s, &runs->program_variables[i]);
}
