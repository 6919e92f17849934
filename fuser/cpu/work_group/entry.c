/* The entry function of a kernel: loads the launch and the arguments, places what lies in memory, and loops over the
   work-groups it is called for. */
#include "fuser/cpu/work_group/entry.h"

#include <stddef.h>
#include <string.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/emit/control.h"
#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/launch.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/private_memory.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/constant.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/extreme.h"
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/simd/lanes.h"
#include "fuser/cpu/simd/x86_move.h"
#include "fuser/cpu/work_group/globals.h"
#include "fuser/cpu/work_group/lane_arrays.h"
#include "fuser/cpu/work_group/regions.h"
#include "fuser/cpu/work_group/work_group_loop.h"

struct entry {
    rval launch, args, first, end, local;
    bool loops; /* the work is in them, not in memory: stores past the cache do not pay */
    uint32_t args_size, static_local, scratch_per_item;
};

/* ---- arguments and launch ---- */

static rval load_u64(struct emit *e, rval base, size_t offset)
{
    rval address = jit_add(e, base, jit_int(e, IR_KIND_I64, offset));
    return jit_read(jit_keep(e, jit_read(jit_memory(e, jit_type(e, IR_KIND_I64), address, 8))));
}

static void load_launch(struct emit *e, const struct entry *k)
{
    struct work_item_ids *p = e->ids;
    struct launch_memory *m = e->launch;
    for (unsigned d = 0; d < 3; d++) {
        unsigned from = d == 0 ? e->row_dim : d == e->row_dim ? 0 : d;
        p->global_size[d] = load_u64(e, k->launch, offsetof(struct kernel_launch, global_size) + 8 * from);
        p->global_offset[d] = load_u64(e, k->launch, offsetof(struct kernel_launch, global_offset) + 8 * from);
        uint32_t size = e->kernel->work_group_size[d];
        p->local_size[d] =
            size ? jit_u64(e, size) : load_u64(e, k->launch, offsetof(struct kernel_launch, local_size) + 8 * from);
        p->num_groups[d] = load_u64(e, k->launch, offsetof(struct kernel_launch, num_groups) + 8 * from);
    }
    rval dims = jit_add(e, k->launch, jit_int(e, IR_KIND_I64, offsetof(struct kernel_launch, dims)));
    p->dims = jit_read(jit_keep(e, jit_read(jit_memory(e, jit_type(e, IR_KIND_I32), dims, 4))));
    m->local = (struct span){k->local, load_u64(e, k->launch, offsetof(struct kernel_launch, local_bytes))};
    m->functions = load_u64(e, k->launch, offsetof(struct kernel_launch, functions));
    m->printer = load_u64(e, k->launch, offsetof(struct kernel_launch, printer));
}

static struct lanes load_argument(struct emit *e, enum ir_kind kind, rval address)
{
    if (kind == IR_KIND_BOOL) {
        rval byte = jit_read(jit_memory(e, jit_type(e, IR_KIND_I8), address, 1));
        return lanes_uniform(
            kind, jit_read(jit_keep(e, jit_compare(e, GCC_JIT_COMPARISON_NE, byte, jit_int(e, IR_KIND_I8, 0)))));
    }
    return lanes_uniform(kind,
                         jit_read(jit_keep(e, jit_read(jit_memory(e, jit_type(e, kind), address, kind_bytes(kind))))));
}

/* Bounds of vectors. */
static void see_bounds(struct ir_inst *inst, void *data)
{
    bool *bounds = data;
    if (inst->op != IR_OP_FMIN && inst->op != IR_OP_FMAX && inst->op != IR_OP_FCLAMP) return;
    for (uint32_t i = 1; i < inst->n_operands; i++)
        if (inst->operands[i]->kind == IR_VALUE_PARAM) bounds[inst->operands[i]->scratch] = true;
}

static void load_arguments(struct emit *e, struct entry *k)
{
    uint32_t *offsets = arena_alloc(e->arena, (e->kernel->n_params + 1) * sizeof *offsets);
    k->args_size = ir_param_layout(e->kernel, offsets);
    e->launch->args = (struct span){k->args, jit_u64(e, k->args_size)};
    bool *bounds = arena_alloc(e->arena, (e->values->uniformity.n_values + 1) * sizeof *bounds);
    ir_walk(e->kernel->body, see_bounds, bounds);
    for (uint32_t i = 0; i < e->kernel->n_params; i++) {
        const struct ir_param *p = &e->kernel->params[i];
        unsigned n = ir_type_lanes(p->value->type);
        enum ir_kind kind = ir_type_kind(p->value->type);
        struct lanes *v = arena_alloc(e->arena, n * sizeof *v);
        rval address = jit_add(e, k->args, jit_int(e, IR_KIND_I64, offsets[i]));
        for (unsigned c = 0; c < n; c++)
            v[c] = load_argument(e, kind, jit_add(e, address, jit_int(e, IR_KIND_I64, c * kind_bytes(kind))));
        for (unsigned c = 0; c < n && bounds[p->value->scratch]; c++) extreme_ask(e, &v[c]);
        if (p->by_value) v[0].scalar = jit_read(jit_keep(e, address));
        if (kind == IR_KIND_PTR && ir_type_space(p->value->type) == IR_SPACE_LOCAL)
            v[0].scalar = jit_read(jit_keep(e, jit_add(e, k->local, v[0].scalar)));
        e->values->lanes[p->value->scratch] = v;
    }
}

/* ---- the function ---- */

static void load_flags(struct emit *e, const struct entry *k)
{
    if ((k->loops && !e->regions) || e->sub_groups) return;
    rval flags = jit_add(e, k->launch, jit_u64(e, offsetof(struct kernel_launch, flags)));
    rval bit = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(jit_memory(e, jit_type(e, IR_KIND_I32), flags, 4)),
                          jit_int(e, IR_KIND_I32, KERNEL_LAUNCH_STREAM));
    rval keeps = jit_sub(e, jit_cast(e, bit, jit_type(e, IR_KIND_I64)), jit_u64(e, KERNEL_LAUNCH_STREAM));
    e->memory->keeps_cached = jit_read(jit_keep(e, keeps));
}

static void place_private_memory(struct emit *e, struct entry *k, rval start)
{
    struct work_item_ids *p = e->ids;
    k->scratch_per_item = regions_place(e, start);
    rval items = jit_mul(e, jit_mul(e, p->local_size[0], p->local_size[1]), p->local_size[2]);
    e->launch->scratch =
        (struct span){start, jit_read(jit_keep(e, jit_mul(e, items, jit_u64(e, k->scratch_per_item))))};
}

struct parameters {
    gcc_jit_param *params[5];
    rval values[5];
};

/* The function e->name, to which statements go from here on. */
static void begin_function(struct emit *e, struct parameters *p)
{
    static const char *const names[] = {"launch", "args", "first", "end", "local"};
    bool is_entry = strcmp(e->name, KERNEL_ENTRY_SYMBOL) == 0;
    for (int i = 0; i < 5; i++) {
        p->params[i] = gcc_jit_context_new_param(e->gcc, NULL, jit_type(e, IR_KIND_I64), names[i]);
        p->values[i] = gcc_jit_param_as_rvalue(p->params[i]);
    }
    e->function =
        gcc_jit_context_new_function(e->gcc, NULL, is_entry ? GCC_JIT_FUNCTION_EXPORTED : GCC_JIT_FUNCTION_INTERNAL,
                                     jit_c(e, GCC_JIT_TYPE_VOID), e->name, 5, p->params, 0);
    jit_begin(e, jit_block(e));
}

static void emit_function(struct emit *e, struct entry *k)
{
    rval *fields[] = {&k->launch, &k->args, &k->first, &k->end, &k->local};
    struct parameters p;
    begin_function(e, &p);
    for (int i = 0; i < 5; i++) *fields[i] = p.values[i];
    jit_function_begin(e);
    load_launch(e, k);
    load_arguments(e, k);
    k->static_local = globals_place(e);
    load_flags(e, k);
    rval scratch = jit_add(e, k->local, jit_u64(e, (k->static_local + 63) / 64 * 64));
    if (e->regions) place_private_memory(e, k, jit_read(jit_keep(e, scratch)));
    work_group_loop_run(e, k->first, k->end);
    if (e->memory->streamed) x86_fence(e);
    x86_clear_halves(e);
    gcc_jit_block_end_with_void_return(e->block, NULL);
    jit_function_end(e);
}

static struct kernel_object_info info_of(const struct emit *e, const struct entry *k)
{
    uint32_t scratch = k->scratch_per_item * (e->group_lanes ? e->groups : 1); /* of a work-item of the launch */
    return (struct kernel_object_info){.abi_version = KERNEL_ABI_VERSION,
                                       .lanes = e->width,
                                       .args_size = k->args_size,
                                       .static_local_size = k->static_local,
                                       .scratch_per_item = (scratch + e->rows - 1) / e->rows,
                                       .sub_group_size = e->sub_groups ? e->width : 0};
}

void entry_emit_info(struct emit *e, const struct kernel_object_info *info)
{
    gcc_jit_type *words = gcc_jit_context_new_array_type(e->gcc, NULL, jit_type(e, IR_KIND_I32), sizeof *info / 4);
    lval v = gcc_jit_context_new_global(e->gcc, NULL, GCC_JIT_GLOBAL_EXPORTED, words, KERNEL_INFO_SYMBOL);
    gcc_jit_global_set_initializer(v, info, sizeof *info);
}

/* ---- two of them ---- */

/* Calls it for work-groups from `first` to `end`, where there are any. */
static void call_for(struct emit *e, gcc_jit_function *side, const struct parameters *p, rval first, rval end)
{
    gcc_jit_block *any = jit_block(e), *done = jit_block(e);
    rval args[5] = {p->values[0], p->values[1], first, end, p->values[4]};
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, first, end), any, done);
    jit_begin(e, any);
    gcc_jit_block_add_eval(e->block, NULL, gcc_jit_context_new_call(e->gcc, NULL, side, 5, args));
    jit_jump(e, done);
    jit_begin(e, done);
}

void entry_emit_sides(struct emit *e, gcc_jit_function *others, gcc_jit_function *last)
{
    struct parameters p;
    begin_function(e, &p);
    rval groups = load_u64(e, p.values[0], offsetof(struct kernel_launch, num_groups));
    rval border = jit_read(jit_keep(e, jit_sub(e, groups, jit_u64(e, 1)))), first = p.values[2], end = p.values[3];
    rval end_of_others = jit_min(e, end, border);
    call_for(e, others, &p, first, end_of_others);
    rval is_behind = jit_compare(e, GCC_JIT_COMPARISON_LT, first, border);
    call_for(e, last, &p, jit_select(e, is_behind, border, first), end);
    gcc_jit_block_end_with_void_return(e->block, NULL);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

struct kernel_object_info entry_info_of_sides(const struct kernel_object_info *a, const struct kernel_object_info *b)
{
    struct kernel_object_info info = *a;
    info.static_local_size = larger(a->static_local_size, b->static_local_size);
    info.scratch_per_item = larger(a->scratch_per_item, b->scratch_per_item);
    info.sub_group_size = larger(a->sub_group_size, b->sub_group_size);
    return info;
}

/* ---- what is known before ---- */

static void find_uniformity(struct emit *e)
{
    bool one = e->width == 1;
    lane_arrays_place(e->arena, e->kernel, e->width, uses_work_group_operations(e->kernel));
    uniformity_find(&e->values->uniformity, e->arena, e->kernel, one ? TOGETHER_ONE : TOGETHER_ROW);
    if (e->sub_groups && !one) uniformity_find(&e->values->flat_uniformity, e->arena, e->kernel, TOGETHER_FLAT);
}

/* What the units below keep of a kernel. */
static void prepare_state(struct emit *e)
{
    e->values = arena_alloc(e->arena, sizeof *e->values);
    e->ids = arena_alloc(e->arena, sizeof *e->ids);
    e->launch = arena_alloc(e->arena, sizeof *e->launch);
    e->memory = arena_alloc(e->arena, sizeof *e->memory);
    e->private = arena_alloc(e->arena, sizeof *e->private);
    e->control = arena_alloc(e->arena, sizeof *e->control);
    find_uniformity(e);
    uint32_t n_values = e->values->uniformity.n_values + 1, n_insts = e->values->uniformity.n_insts + 1;
    e->values->lanes = arena_alloc(e->arena, n_values * sizeof *e->values->lanes);
    e->values->sums = arena_alloc(e->arena, n_values * sizeof *e->values->sums);
    e->values->shared = arena_alloc(e->arena, n_values * sizeof *e->values->shared);
    e->private->on_stack = arena_alloc(e->arena, n_insts * sizeof *e->private->on_stack);
    e->memory->globals = arena_alloc(e->arena, (e->module->n_globals + 1) * sizeof *e->memory->globals);
    for (uint32_t i = 0; i < e->module->n_globals; i++) e->module->globals[i]->scratch = i;
    if (uses_work_group_operations(e->kernel)) regions_prepare(e);
}

bool entry_emit(struct emit *e, bool loops, struct kernel_object_info *info)
{
    struct entry k = {.loops = loops};
    if (setjmp(e->jit.too_large)) return false;
    prepare_state(e);
    emit_function(e, &k);
    *info = info_of(e, &k);
    return true;
}
