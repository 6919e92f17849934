/*
 * A loop that each lane runs by itself, one after the other, in the midst of code for all of them (lane_cost.c says
 * when). What the loop uses of the code around it is a scalar there, picked from memory where lanes differ; and what it
 * results in is put into memory lane by lane and read as vectors, but for what code behind the loop takes for the same
 * in all lanes, or for one and its steps: that is a variable.
 */
#include "fuser/cpu/emit/lane_by_lane.h"

#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/prepare/lane_cost.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/spill.h"
#include "fuser/cpu/simd/x86_gather.h"
#include "fuser/cpu/target/isa.h"
#include "fuser/passes/util.h"
#include "ir/core/edit.h"

/* A value of the code around the loop. */
struct lane_value {
    const struct ir_value *value;
    struct lanes *all;  /* its components, over the lanes */
    const lval *memory; /* by component: where lanes differ, an array of them; of a bool all bits in one number */
};

/* ---- what the loop uses ---- */

struct finder {
    struct emit *e;
    struct lane_by_lane *each;
    bool *seen; /* by value number */
};

static void find_value(struct finder *f, const struct ir_value *v)
{
    struct lane_by_lane *each = f->each;
    if (v->kind <= IR_VALUE_PARAM || f->seen[v->scratch] || pass_is_inside(v, each->loop)) return;
    struct lanes *all = f->e->values->lanes[v->scratch];
    f->seen[v->scratch] = true;
    if (!all) return;
    each->values = arena_grow(f->e->arena, each->values, each->n_values, sizeof *each->values);
    each->values[each->n_values++] = (struct lane_value){.value = v, .all = all};
}

static void find_operands(struct ir_inst *inst, void *data)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) find_value(data, inst->operands[i]);
}

static void find_values(struct emit *e, struct lane_by_lane *each)
{
    struct finder f = {e, each, arena_alloc(e->arena, e->values->uniformity.n_values * sizeof *f.seen)};
    find_operands((struct ir_inst *)each->loop, &f);
    ir_walk(each->loop->blocks[0], find_operands, &f);
}

/* ---- from lanes to one ---- */

static lval put_into_memory(struct emit *e, const struct lanes *v)
{
    if (v->shape != SHAPE_VARYING) return NULL;
    return v->kind == IR_KIND_BOOL ? jit_keep(e, mask_bits(e, mask_of(e, v))) : spill_lanes(e, v);
}

static void put_values_into_memory(struct emit *e, struct lane_by_lane *each)
{
    for (uint32_t i = 0; i < each->n_values; i++) {
        struct lane_value *v = &each->values[i];
        unsigned n = ir_type_lanes(v->value->type);
        lval *memory = arena_alloc(e->arena, n * sizeof *memory);
        for (unsigned c = 0; c < n; c++) memory[c] = put_into_memory(e, &v->all[c]);
        v->memory = memory;
    }
}

static rval lane_of(struct emit *e, const struct lanes *v, lval memory, rval lane)
{
    if (!memory) return lanes_at(e, v, lane);
    if (v->kind != IR_KIND_BOOL) return jit_read(jit_keep(e, spilled_lane(e, memory, lane)));
    rval bit = jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(memory), lane);
    bit = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, bit, jit_u64(e, 1));
    return jit_read(jit_keep(e, jit_compare(e, GCC_JIT_COMPARISON_NE, bit, jit_u64(e, 0))));
}

static void define_values_of_lane(struct emit *e, const struct lane_by_lane *each)
{
    for (uint32_t i = 0; i < each->n_values; i++) {
        const struct lane_value *v = &each->values[i];
        unsigned n = ir_type_lanes(v->value->type);
        struct lanes *one = arena_alloc(e->arena, n * sizeof *one);
        for (unsigned c = 0; c < n; c++)
            one[c] = lanes_uniform(v->all[c].kind, lane_of(e, &v->all[c], v->memory[c], each->lanes.lane));
        e->values->lanes[v->value->scratch] = one;
    }
}

/* What is known of one work-item: all is the same for it. */
static void think_of_one(struct emit *e, struct lane_by_lane *each)
{
    struct uniformity *u = &e->values->uniformity;
    each->uniformity = *u;
    each->exec = e->exec;
    each->width = e->width;
    each->item = e->ids->item[0];
    u->values = arena_alloc(e->arena, u->n_values * sizeof *u->values);
    u->divergent = arena_alloc(e->arena, u->n_insts * sizeof *u->divergent);
    e->exec = (struct mask){NULL};
    e->width = 1;
    e->ids->item[0] = jit_read(jit_keep(e, jit_add(e, each->item, each->lanes.lane)));
}

/* ---- and back ---- */

static enum ir_kind kept_kind(enum ir_kind kind)
{
    return kind == IR_KIND_BOOL ? IR_KIND_I8 : kind;
}

/* Of the code around the loop, once think_of_one() was called. */
static struct shape result_shape(const struct lane_by_lane *each, uint32_t i)
{
    return each->uniformity.values[each->loop->results[i]->scratch];
}

static void make_results(struct emit *e, struct lane_by_lane *each)
{
    const struct ir_inst *loop = each->loop;
    each->results = arena_alloc(e->arena, (loop->n_results + 1) * sizeof *each->results);
    for (uint32_t i = 0; i < loop->n_results; i++) {
        enum ir_kind kind = ir_type_kind(loop->results[i]->type);
        unsigned n = ir_type_lanes(loop->results[i]->type);
        bool varies = value_shape(e, loop->results[i]).kind == SHAPE_VARYING;
        each->results[i] = arena_alloc(e->arena, n * sizeof **each->results);
        for (unsigned c = 0; c < n; c++)
            each->results[i][c] = varies ? lane_array(e, kept_kind(kind), 1) : jit_keep(e, jit_number(e, kind, 0));
    }
}

static void keep_component(struct emit *e, const struct lane_by_lane *each, lval to, enum ir_kind kind,
                           struct shape shape, rval v)
{
    rval lane = each->lanes.lane;
    if (shape.kind == SHAPE_VARYING) {
        lval element = gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(to), lane);
        jit_set(e, element, jit_cast(e, v, jit_type(e, kept_kind(kind))));
        return;
    }
    const struct lanes back = lanes_linear(kind, v, -shape.stride);
    jit_set(e, to, lanes_at(e, &back, lane));
}

static void keep_results(struct emit *e, const struct lane_by_lane *each)
{
    const struct ir_inst *loop = each->loop;
    for (uint32_t i = 0; i < loop->n_results; i++) {
        const struct lanes *v = emit_value(e, loop->results[i]);
        for (unsigned c = 0; c < ir_type_lanes(loop->results[i]->type); c++)
            keep_component(e, each, each->results[i][c], ir_type_kind(loop->results[i]->type), result_shape(each, i),
                           v[c].scalar);
    }
}

static struct lanes result_component(struct emit *e, lval from, enum ir_kind kind, struct shape shape)
{
    if (shape.kind != SHAPE_VARYING) return lanes_linear(kind, jit_read(from), shape.stride);
    struct lanes v = unspill_lanes(e, kept_kind(kind), from);
    return kind == IR_KIND_BOOL ? op2(e, IR_OP_INE, IR_KIND_BOOL, v, lanes_int(e, IR_KIND_I8, 0)) : v;
}

static void define_results(struct emit *e, const struct lane_by_lane *each)
{
    const struct ir_inst *loop = each->loop;
    for (uint32_t i = 0; i < loop->n_results; i++) {
        unsigned n = ir_type_lanes(loop->results[i]->type);
        struct lanes *all = arena_alloc(e->arena, n * sizeof *all);
        for (unsigned c = 0; c < n; c++)
            all[c] =
                result_component(e, each->results[i][c], ir_type_kind(loop->results[i]->type), result_shape(each, i));
        e->values->lanes[loop->results[i]->scratch] = all;
    }
}

bool lane_by_lane_pays(const struct emit *e, const struct ir_inst *loop)
{
    const struct lane_cost_of c = {.uniformity = &e->values->uniformity,
                                   .module = e->module,
                                   .width = e->width,
                                   .vector_bytes = e->isa->vector_bytes,
                                   .gathers = x86_can_gather(e, IR_KIND_I32)};
    return e->width > 1 && !e->sub_groups && lane_cost_favours_each(&c, loop);
}

void lane_by_lane_begin(struct emit *e, struct lane_by_lane *each, const struct ir_inst *loop)
{
    *each = (struct lane_by_lane){.loop = loop};
    find_values(e, each);
    put_values_into_memory(e, each);
    make_results(e, each);
    lane_loop_begin(e, &each->lanes);
    define_values_of_lane(e, each);
    think_of_one(e, each);
}

void lane_by_lane_end(struct emit *e, struct lane_by_lane *each)
{
    if (!e->block) jit_begin(e, jit_block(e)); /* the loop has no end */
    keep_results(e, each);
    lane_loop_end(e, &each->lanes);
    e->values->uniformity = each->uniformity;
    e->exec = each->exec;
    e->width = each->width;
    e->ids->item[0] = each->item;
    for (uint32_t i = 0; i < each->n_values; i++)
        e->values->lanes[each->values[i].value->scratch] = each->values[i].all;
    define_results(e, each);
}
