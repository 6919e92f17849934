/* The walk over a kernel that follows its integers and pointers along rows. */
#include "fuser/bands/reach.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/passes/integers/ranges.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"
#include "ir/core/edit.h"
#include "ir/core/facts.h"

enum { MOST_REACHES = 64 }; /* of a kernel, before they are put together */

/* Where a pointer leads: into a parameter's memory; elsewhere, to memory of the work-item's or work-group's own or to
   constants; or nobody knows. */
enum target { LOST, OWN, PARAM };

struct pointer {
    enum target target;
    uint32_t param;
    struct line at;
    struct interval range;
};

struct reach_walk {
    const struct nd_range *range;
    unsigned row_dim;
    struct band_reaches *out;
    struct arena *arena;
    struct line *lines;            /* of integers, by number */
    struct pointer *pointers;      /* by number */
    const struct ir_value *row_id; /* along which rows are; NULL: has not been seen */
    int64_t last_row;              /* that gets to where the walk stands */
    bool unseen;
};

/* ---- the kernel as it is launched ---- */

struct launched {
    struct ir_function *copy;
    const struct nd_range *range;
};

static uint64_t groups_along(const struct nd_range *r, unsigned d)
{
    return (r->global[d] + r->local[d] - 1) / r->local[d];
}

static void replace_size(struct ir_inst *inst, const struct launched *l, uint64_t size)
{
    ir_replace_uses(l->copy->body, inst->results[0], ir_const_int(l->copy->module, inst->type, size));
    ir_inst_remove(inst);
}

/* The id is what it is, and within its bounds. */
static void bound_id(struct ir_inst *inst, const struct launched *l, uint64_t first, uint64_t last)
{
    if (!inst->next) return;
    struct ir_builder b = ir_builder_before(inst->next);
    struct ir_value *id = inst->results[0];
    struct ir_value *clamped = ir_build3(&b, IR_OP_SCLAMP, IR_I64, id, ir_const_int(l->copy->module, IR_I64, first),
                                         ir_const_int(l->copy->module, IR_I64, last));
    ir_replace_uses(l->copy->body, id, clamped);
    clamped->of.inst->operands[0] = id;
}

static void replace_query(struct ir_inst *inst, void *data)
{
    const struct launched *l = data;
    const struct nd_range *r = l->range;
    unsigned d = inst->attrs.dim;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID: bound_id(inst, l, r->offset[d], r->offset[d] + r->global[d] - 1); break;
    case IR_OP_LOCAL_ID: bound_id(inst, l, 0, r->local[d] - 1); break;
    case IR_OP_GROUP_ID: bound_id(inst, l, 0, groups_along(r, d) - 1); break;
    case IR_OP_GLOBAL_SIZE: replace_size(inst, l, r->global[d]); break;
    case IR_OP_GLOBAL_OFFSET: replace_size(inst, l, r->offset[d]); break;
    case IR_OP_ENQUEUED_LOCAL_SIZE: replace_size(inst, l, r->local[d]); break;
    case IR_OP_NUM_GROUPS: replace_size(inst, l, groups_along(r, d)); break;
    default: break;
    }
}

/* In all of f the integers are what they are taken to be. */
static void set_numbers(struct ir_function *f, const int64_t *numbers)
{
    for (uint32_t i = 0; i < f->n_params; i++) {
        struct ir_value *v = f->params[i].value;
        if (numbers[i] && known_range_is_int(v->type))
            ir_replace_uses(f->body, v, ir_const_int(f->module, v->type, (uint64_t)numbers[i]));
    }
}

/* ---- integers ---- */

static struct line line_of(const struct reach_walk *w, const struct known_ranges *k, const struct ir_value *v)
{
    struct line flat = line_flat(known_range(k, v));
    return v->scratch && known_range_is_int(v->type) && w->lines[v->scratch].den
               ? line_tighter(w->lines[v->scratch], flat)
               : flat;
}

static bool is_row_id(const struct reach_walk *w, const struct ir_inst *inst)
{
    const struct ir_value *id = inst->op == IR_OP_SCLAMP ? inst->operands[0] : NULL;
    return id && id->kind == IR_VALUE_RESULT && id->of.inst->op == IR_OP_GLOBAL_ID &&
           id->of.inst->attrs.dim == w->row_dim;
}

/* By what conditions say of the id. */
static int64_t last_row(const struct reach_walk *w, const struct known_ranges *k)
{
    int64_t last = (int64_t)w->out->rows - 1, first_id = (int64_t)w->range->offset[w->row_dim];
    if (!w->row_id) return last;
    int64_t row = (known_range(k, w->row_id).high - first_id) / (int64_t)w->range->local[w->row_dim];
    return row < 0 ? 0 : row < last ? row : last;
}

/* From both slopes, as the one that is not a mere interval is what is looked for. */
static bool chosen(const struct reach_walk *w, struct line a, struct line b, enum line_choice which, struct line *out)
{
    struct line x, y;
    bool one = line_choose(&a, &b, which, w->last_row, &x), other = line_choose(&b, &a, which, w->last_row, &y);
    if (one || other) *out = one && other ? line_tighter(x, y) : one ? x : y;
    return one || other;
}

static bool id_line(const struct reach_walk *w, const struct ir_inst *inst, struct line *out)
{
    unsigned d = w->row_dim;
    int64_t local = (int64_t)w->range->local[d], first = (int64_t)w->range->offset[d];
    if (inst->attrs.dim != d) return false;
    if (inst->op == IR_OP_GLOBAL_ID) *out = (struct line){local, 1, first, first + local - 1};
    if (inst->op == IR_OP_GROUP_ID) *out = (struct line){1, 1, 0, 0};
    return inst->op == IR_OP_GLOBAL_ID || inst->op == IR_OP_GROUP_ID;
}

static bool is_number(struct interval r)
{
    return r.low == r.high;
}

static bool product_line(const struct line *a, const struct line *b, const struct interval *ranges, struct line *out)
{
    if (is_number(ranges[1])) return line_scale(a, ranges[1].low, out);
    return is_number(ranges[0]) && line_scale(b, ranges[0].low, out);
}

static bool quotient_line(const struct ir_inst *inst, const struct line *a, const struct interval *ranges,
                          struct line *out)
{
    bool shifts = inst->op == IR_OP_LSHR || inst->op == IR_OP_ASHR;
    int64_t by = ranges[1].low;
    if (!is_number(ranges[1]) || by < 0 || (ranges[0].low < 0 && inst->op != IR_OP_ASHR)) return false;
    if (shifts && by > 30) return false;
    return by + shifts > 0 && line_quotient(a, shifts ? (int64_t)1 << by : by, out);
}

/* A rest, or low bits, of a number that is no more than them. */
static bool rest_line(const struct ir_inst *inst, const struct line *a, const struct interval *ranges, struct line *out)
{
    int64_t most = ranges[1].low - (inst->op == IR_OP_AND ? 0 : 1);
    bool is_mask = inst->op != IR_OP_AND || (most & (most + 1)) == 0;
    if (!is_number(ranges[1]) || !is_mask || ranges[0].low < 0 || ranges[0].high > most) return false;
    *out = *a;
    return true;
}

static bool select_line(const struct reach_walk *w, const struct known_ranges *k, const struct ir_inst *inst,
                        struct line *out)
{
    return chosen(w, line_of(w, k, inst->operands[1]), line_of(w, k, inst->operands[2]), LINE_EITHER, out);
}

static bool clamp_line(const struct reach_walk *w, const struct line *o, struct line *out)
{
    return chosen(w, o[0], o[1], LINE_LARGER, out) && chosen(w, *out, o[2], LINE_SMALLER, out);
}

/* Of an operation whose operands are integers: n of them. */
static bool operation_line(const struct reach_walk *w, const struct ir_inst *inst, const struct line *o,
                           const struct interval *ranges, struct line *out)
{
    struct line minus;
    bool natural = ranges[0].low >= 0 && ranges[1].low >= 0 && ranges[2].low >= 0;
    struct interval bits = interval_all(ir_type_bits(inst->type));
    switch (inst->op) {
    case IR_OP_ADD: return interval_is_exact(inst, ranges) && line_add(&o[0], &o[1], out);
    case IR_OP_SUB:
        return interval_is_exact(inst, ranges) && line_scale(&o[1], -1, &minus) && line_add(&o[0], &minus, out);
    case IR_OP_MUL: return interval_is_exact(inst, ranges) && product_line(&o[0], &o[1], ranges, out);
    case IR_OP_SHL:
        return interval_is_exact(inst, ranges) && is_number(ranges[1]) && ranges[1].low >= 0 && ranges[1].low < 62 &&
               line_scale(&o[0], (int64_t)1 << ranges[1].low, out);
    case IR_OP_UDIV:
    case IR_OP_SDIV:
    case IR_OP_LSHR:
    case IR_OP_ASHR: return quotient_line(inst, &o[0], ranges, out);
    case IR_OP_UREM:
    case IR_OP_SREM:
    case IR_OP_AND: return rest_line(inst, &o[0], ranges, out);
    case IR_OP_SMIN: return chosen(w, o[0], o[1], LINE_SMALLER, out);
    case IR_OP_SMAX: return chosen(w, o[0], o[1], LINE_LARGER, out);
    case IR_OP_UMIN: return natural && chosen(w, o[0], o[1], LINE_SMALLER, out);
    case IR_OP_UMAX: return natural && chosen(w, o[0], o[1], LINE_LARGER, out);
    case IR_OP_SCLAMP: return clamp_line(w, o, out);
    case IR_OP_UCLAMP: return natural && clamp_line(w, o, out);
    case IR_OP_SEXT: *out = o[0]; return true;
    case IR_OP_ZEXT: *out = o[0]; return ranges[0].low >= 0;
    case IR_OP_ITRUNC: *out = o[0]; return ranges[0].low >= bits.low && ranges[0].high <= bits.high;
    default: return false;
    }
}

static bool are_integers(const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!known_range_is_int(inst->operands[i]->type)) return false;
    return inst->n_operands <= 3;
}

static struct line result_line(const struct reach_walk *w, const struct known_ranges *k, const struct ir_inst *inst)
{
    struct line o[3] = {{0, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}}, out,
                flat = line_flat(known_range(k, inst->results[0]));
    struct interval ranges[3] = {{0, 0}, {0, 0}, {0, 0}};
    bool found;
    if (ir_op_class(inst->op) == IR_CLASS_ND_RANGE) {
        found = id_line(w, inst, &out);
        return found ? out : flat; /* tighter or not: bounded behind it */
    }
    if (inst->op == IR_OP_SELECT) {
        found = select_line(w, k, inst, &out);
        return found ? line_tighter(out, flat) : flat;
    }
    if (!are_integers(inst)) return flat;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        o[i] = line_of(w, k, inst->operands[i]);
        ranges[i] = known_range(k, inst->operands[i]);
    }
    found = operation_line(w, inst, o, ranges, &out);
    return found ? line_tighter(out, flat) : flat;
}

/* What both branches of an if yield. */
static struct line joined_line(const struct reach_walk *w, const struct known_ranges *k, const struct ir_inst *inst,
                               uint32_t i)
{
    const struct ir_inst *a = inst->blocks[0]->last, *b = inst->blocks[1]->last;
    struct line flat = line_flat(known_range(k, inst->results[i])), out;
    if (a->op != IR_OP_YIELD || b->op != IR_OP_YIELD) return flat;
    if (!chosen(w, line_of(w, k, a->operands[i]), line_of(w, k, b->operands[i]), LINE_EITHER, &out)) return flat;
    return line_tighter(out, flat);
}

/* ---- pointers ---- */

static struct pointer pointer_of(const struct reach_walk *w, const struct ir_value *v)
{
    return v->scratch ? w->pointers[v->scratch] : (struct pointer){LOST};
}

static struct pointer moved(struct pointer p, struct line by, struct interval range)
{
    struct interval sum;
    if (p.target != PARAM) return p;
    if (!line_add(&p.at, &by, &p.at) || __builtin_add_overflow(p.range.low, range.low, &sum.low) ||
        __builtin_add_overflow(p.range.high, range.high, &sum.high))
        return (struct pointer){LOST};
    p.range = sum;
    return p;
}

static struct pointer element(const struct reach_walk *w, const struct known_ranges *k, const struct ir_inst *inst)
{
    struct pointer p = pointer_of(w, inst->operands[0]);
    int64_t size = (int64_t)ir_type_size(inst->parent->function->module, inst->type);
    struct line by = line_of(w, k, inst->operands[1]);
    struct interval range = known_range(k, inst->operands[1]), bytes;
    if (!line_scale(&by, size, &by) || __builtin_mul_overflow(range.low, size, &bytes.low) ||
        __builtin_mul_overflow(range.high, size, &bytes.high))
        return p.target == PARAM ? (struct pointer){LOST} : p;
    return moved(p, by, bytes);
}

static struct pointer result_pointer(const struct reach_walk *w, const struct known_ranges *k,
                                     const struct ir_inst *inst)
{
    int64_t offset;
    switch (inst->op) {
    case IR_OP_VAR: return (struct pointer){OWN};
    case IR_OP_GLOBAL: return (struct pointer){inst->attrs.global->space == IR_SPACE_GLOBAL ? LOST : OWN};
    case IR_OP_ELEM: return element(w, k, inst);
    case IR_OP_FIELD:
        offset = (int64_t)ir_type_struct(inst->parent->function->module, inst->type)->fields[inst->attrs.index].offset;
        return moved(pointer_of(w, inst->operands[0]), (struct line){0, 1, offset, offset},
                     (struct interval){offset, offset});
    case IR_OP_SPACECAST: return pointer_of(w, inst->operands[0]);
    default: return (struct pointer){LOST};
    }
}

/* ---- accesses ---- */

/* As planes of one picture are. */
static bool are_apart(const struct band_reach *a, const struct band_reach *b)
{
    return a->end <= b->first || b->end <= a->first;
}

static void add_reach(struct reach_walk *w, const struct band_reach *reach)
{
    struct band_reaches *out = w->out;
    for (uint32_t i = 0; i < out->n; i++) {
        struct band_reach *r = &out->reaches[i];
        if (r->param != reach->param || r->reads != reach->reads || r->writes != reach->writes ||
            r->at.num != reach->at.num || r->at.den != reach->at.den || (out->n < MOST_REACHES && are_apart(r, reach)))
            continue;
        if (reach->at.low < r->at.low) r->at.low = reach->at.low;
        if (reach->at.high > r->at.high) r->at.high = reach->at.high;
        if (reach->first < r->first) r->first = reach->first;
        if (reach->end > r->end) r->end = reach->end;
        return;
    }
    out->reaches = arena_grow(w->arena, out->reaches, out->n, sizeof *out->reaches);
    out->reaches[out->n++] = *reach;
}

static void see_access(struct reach_walk *w, const struct ir_inst *inst)
{
    unsigned flags = ir_op_info(inst->op)->flags;
    struct pointer p = pointer_of(w, inst->operands[0]);
    bool is_flag = inst->op == IR_OP_ATOMIC_TEST_SET || inst->op == IR_OP_ATOMIC_CLEAR;
    int64_t bytes = is_flag ? 4 : (int64_t)ir_type_size(inst->parent->function->module, inst->type);
    struct line size = {0, 1, 0, bytes};
    struct band_reach reach = {.param = p.param, .reads = flags & IR_FLAG_READS, .writes = flags & IR_FLAG_WRITES};
    if (p.target == LOST) w->unseen = true;
    if (p.target != PARAM) return;
    if (!line_add(&p.at, &size, &reach.at) || __builtin_add_overflow(p.range.high, bytes, &reach.end)) {
        w->unseen = true;
        return;
    }
    reach.first = p.range.low;
    add_reach(w, &reach);
}

static bool is_access(const struct ir_inst *inst)
{
    return inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE || ir_op_class(inst->op) == IR_CLASS_ATOMIC;
}

/* What only moves a pointer, or hints. */
static bool follows(const struct ir_inst *inst)
{
    return inst->op == IR_OP_ELEM || inst->op == IR_OP_FIELD || inst->op == IR_OP_SPACECAST ||
           inst->op == IR_OP_PREFETCH;
}

/* A pointer into a parameter goes where it is not followed. */
static bool loses(const struct reach_walk *w, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (!ir_type_is_ptr(inst->operands[i]->type)) continue;
        if (i == 0 && (is_access(inst) || follows(inst))) continue;
        if (pointer_of(w, inst->operands[i]).target != OWN) return true;
    }
    return false;
}

/* Whose effects are all seen: memory, and what work-items of a work-group tell each other. */
static bool is_seen(const struct ir_inst *inst)
{
    switch (ir_op_class(inst->op)) {
    case IR_CLASS_ARITHMETIC:
    case IR_CLASS_COMPARISON:
    case IR_CLASS_CONVERSION:
    case IR_CLASS_VECTOR:
    case IR_CLASS_MATH:
    case IR_CLASS_ND_RANGE:
    case IR_CLASS_CONTROL: return inst->op != IR_OP_CALL;
    case IR_CLASS_ATOMIC: return true;
    case IR_CLASS_MEMORY: return is_access(inst) || follows(inst) || inst->op == IR_OP_VAR || inst->op == IR_OP_GLOBAL;
    default: return inst->op == IR_OP_BARRIER;
    }
}

static void visit(const struct known_ranges *k, struct ir_inst *inst, void *data)
{
    struct reach_walk *w = data;
    w->last_row = last_row(w, k);
    if (is_row_id(w, inst)) w->row_id = inst->results[0];
    if (!is_seen(inst) || loses(w, inst)) w->unseen = true;
    if (is_access(inst)) see_access(w, inst);
    for (uint32_t i = 0; i < inst->n_results; i++) {
        const struct ir_value *v = inst->results[i];
        if (ir_type_is_ptr(v->type)) w->pointers[v->scratch] = result_pointer(w, k, inst);
        if (!known_range_is_int(v->type)) continue;
        if (inst->op == IR_OP_IF)
            w->lines[v->scratch] = joined_line(w, k, inst, i);
        else if (!inst->blocks[0])
            w->lines[v->scratch] = result_line(w, k, inst);
    }
}

/* ---- the whole ---- */

static void find_rows(struct reach_walk *w)
{
    const struct nd_range *r = w->range;
    w->out->groups_of_row = 1;
    for (unsigned d = 0; d < 3; d++)
        if (groups_along(r, d) > 1) w->row_dim = d;
    for (unsigned d = 0; d < w->row_dim; d++) w->out->groups_of_row *= groups_along(r, d);
    w->out->rows = groups_along(r, w->row_dim);
}

static bool begin_params(struct reach_walk *w, const struct ir_function *f)
{
    for (uint32_t i = 0; i < f->n_params; i++) {
        ir_type type = f->params[i].value->type;
        if (ir_type_kind(type) == IR_KIND_IMAGE || ir_type_kind(type) == IR_KIND_PIPE) return false;
        if (!ir_type_is_ptr(type)) continue;
        bool own = ir_type_space(type) == IR_SPACE_LOCAL || f->params[i].by_value;
        w->pointers[f->params[i].value->scratch] = (struct pointer){own ? OWN : PARAM, i, {0, 1, 0, 0}, {0, 0}};
    }
    return true;
}

bool band_reaches_find(const struct ir_function *kernel, const struct nd_range *range, const int64_t *numbers,
                       struct arena *arena, struct band_reaches *out)
{
    struct ir_module *scratch = ir_module_new("reach");
    struct ir_function *copy = ir_function_copy(scratch, kernel, NULL);
    struct reach_walk w = {.range = range, .out = out, .arena = arena};
    struct launched launched = {copy, range};
    *out = (struct band_reaches){0};
    find_rows(&w);
    set_numbers(copy, numbers);
    ir_walk(copy->body, replace_query, &launched);
    uint32_t n = pass_number(copy);
    w.lines = calloc(n, sizeof *w.lines);
    w.pointers = calloc(n, sizeof *w.pointers);
    if (!w.lines || !w.pointers) abort();
    bool seen = begin_params(&w, copy);
    if (seen) known_ranges_walk(copy, visit, &w);
    free(w.lines);
    free(w.pointers);
    ir_module_free(scratch);
    return seen && !w.unseen;
}
