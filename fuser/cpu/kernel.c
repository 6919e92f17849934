/* The entry function of a kernel: goes over work-groups and their work-items, and runs the body for each
   `width` of them. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/cpu/assemble.h"
#include "fuser/cpu/emit.h"
#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/code_passes.h"
#include "ir/analysis/reachable_globals.h"

/* ---- arguments and launch ---- */

struct entry {
    struct emit *e;
    rval launch, args, first, end, local;
    bool merges;      /* neighbouring work-groups may run as one */
    bool loops, math; /* the work is in them, not in memory */
    uint32_t args_size, static_local, scratch_per_item;
    lval *variables; /* of the module, that lie in the object: by scratch */
};

static rval load_u64(struct emit *e, rval base, size_t offset)
{
    rval address = jit_add(e, base, jit_int(e, IR_KIND_I64, offset));
    return jit_read(jit_keep(e, jit_read(jit_memory(e, jit_type(e, IR_KIND_I64), address, 8))));
}

static void load_launch(struct entry *k)
{
    struct emit *e = k->e;
    struct place *p = &e->place;
    for (unsigned d = 0; d < 3; d++) {
        p->global_size[d] = load_u64(e, k->launch, offsetof(struct kernel_launch, global_size) + 8 * d);
        p->global_offset[d] = load_u64(e, k->launch, offsetof(struct kernel_launch, global_offset) + 8 * d);
        p->local_size[d] = load_u64(e, k->launch, offsetof(struct kernel_launch, local_size) + 8 * d);
        p->num_groups[d] = load_u64(e, k->launch, offsetof(struct kernel_launch, num_groups) + 8 * d);
    }
    rval dims = jit_add(e, k->launch, jit_int(e, IR_KIND_I64, offsetof(struct kernel_launch, dims)));
    p->dims = jit_read(jit_keep(e, jit_read(jit_memory(e, jit_type(e, IR_KIND_I32), dims, 4))));
    p->local = k->local;
    p->local_bytes = load_u64(e, k->launch, offsetof(struct kernel_launch, local_bytes));
    p->functions = load_u64(e, k->launch, offsetof(struct kernel_launch, functions));
    p->printer = load_u64(e, k->launch, offsetof(struct kernel_launch, printer));
}

static struct lanes load_argument(struct entry *k, enum ir_kind kind, rval address)
{
    struct emit *e = k->e;
    if (kind == IR_KIND_BOOL) {
        rval byte = jit_read(jit_memory(e, jit_type(e, IR_KIND_I8), address, 1));
        return lanes_uniform(
            kind, jit_read(jit_keep(e, jit_compare(e, GCC_JIT_COMPARISON_NE, byte, jit_int(e, IR_KIND_I8, 0)))));
    }
    return lanes_uniform(kind,
                         jit_read(jit_keep(e, jit_read(jit_memory(e, jit_type(e, kind), address, kind_bytes(kind))))));
}

static void load_arguments(struct entry *k)
{
    struct emit *e = k->e;
    uint32_t *offsets = arena_alloc(e->arena, (e->kernel->n_params + 1) * sizeof *offsets);
    k->args_size = ir_param_layout(e->kernel, offsets);
    e->place.args = (struct span){k->args, jit_u64(e, k->args_size)};
    for (uint32_t i = 0; i < e->kernel->n_params; i++) {
        const struct ir_param *p = &e->kernel->params[i];
        unsigned n = ir_type_lanes(p->value->type);
        enum ir_kind kind = ir_type_kind(p->value->type);
        struct lanes *v = arena_alloc(e->arena, n * sizeof *v);
        rval address = jit_add(e, k->args, jit_int(e, IR_KIND_I64, offsets[i]));
        for (unsigned c = 0; c < n; c++)
            v[c] = load_argument(k, kind, jit_add(e, address, jit_int(e, IR_KIND_I64, c * kind_bytes(kind))));
        if (p->by_value) v[0].scalar = jit_read(jit_keep(e, address));
        if (kind == IR_KIND_PTR && ir_type_space(p->value->type) == IR_SPACE_LOCAL)
            v[0].scalar = jit_read(jit_keep(e, jit_add(e, k->local, v[0].scalar)));
        e->values[p->value->scratch] = v;
    }
}

/* ---- module-scope variables ---- */

static void place_local(struct entry *k, const struct ir_global *g)
{
    struct emit *e = k->e;
    uint32_t align = g->align ? g->align : 1;
    k->static_local = (k->static_local + align - 1) / align * align;
    e->global_address[g->scratch] =
        jit_read(jit_keep(e, jit_add(e, k->local, jit_int(e, IR_KIND_I64, k->static_local))));
    k->static_local += (uint32_t)ir_type_size(e->module, g->type);
}

static rval place_bytes(struct entry *k, const struct ir_global *g, uint64_t size)
{
    struct emit *e = k->e;
    lval v = k->variables[g->scratch] = data_declare(e, g, size);
    e->global_address[g->scratch] = jit_read(jit_keep(e, jit_address(e, v)));
    return e->global_address[g->scratch];
}

/* All zero at first, as memory of a program is; then an empty pipe, whoever comes first. */
static void place_pipe(struct entry *k, const struct ir_global *g)
{
    struct emit *e = k->e;
    uint64_t packet = ir_type_size(e->module, g->packet);
    rval pipe = place_bytes(k, g, kernel_pipe_bytes(packet, g->capacity));
    rval size = jit_add(e, pipe, jit_u64(e, offsetof(struct kernel_pipe, packet_size)));
    rval capacity = jit_add(e, pipe, jit_u64(e, offsetof(struct kernel_pipe, capacity)));
    jit_set(e, jit_memory(e, jit_type(e, IR_KIND_I32), size, 4), jit_int(e, IR_KIND_I32, packet));
    jit_set(e, jit_memory(e, jit_type(e, IR_KIND_I32), capacity, 4), jit_int(e, IR_KIND_I32, g->capacity));
}

static void find_global(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_GLOBAL) ir_held_add(data, inst->attrs.global);
}

static void place_global(struct entry *k, const struct ir_global *g)
{
    if (ir_type_kind(g->type) == IR_KIND_PIPE)
        place_pipe(k, g);
    else if (g->space == IR_SPACE_LOCAL)
        place_local(k, g);
    else
        place_bytes(k, g, ir_type_size(k->e->module, g->type));
}

static void place_globals(struct entry *k)
{
    struct emit *e = k->e;
    struct ir_held used;
    ir_held_open(&used, e->module);
    ir_walk(e->kernel->body, find_global, &used);
    k->variables = arena_alloc(e->arena, (e->module->n_globals + 1) * sizeof *k->variables);
    for (uint32_t i = 0; i < used.n; i++) place_global(k, used.list[i]);
    for (uint32_t i = 0; i < used.n; i++)
        if (used.list[i]->n_addresses) data_set_addresses(e, used.list[i], k->variables);
    ir_held_close(&used);
}

/* ---- loops over groups and work-items ---- */

/* Start and extent of the group in one dimension; n groups of it at once. */
static void place_group(struct emit *e, unsigned d, rval group, rval n)
{
    struct place *p = &e->place;
    p->group[d] = jit_read(jit_keep(e, group));
    p->start[d] = jit_read(jit_keep(e, jit_mul(e, p->group[d], p->local_size[d])));
    rval size = n ? jit_mul(e, n, p->local_size[d]) : p->local_size[d];
    p->extent[d] = jit_read(jit_keep(e, jit_min(e, size, jit_sub(e, p->global_size[d], p->start[d]))));
}

static void run_groups(struct entry *k)
{
    struct emit *e = k->e;
    struct place *p = &e->place;
    lval step = jit_keep(e, jit_u64(e, 1));
    struct counted g = counted_begin(e, k->first, k->end, jit_read(step));
    rval x = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MODULO, jit_read(g.v), p->num_groups[0])));
    rval yz = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, jit_read(g.v), p->num_groups[0])));
    if (k->merges) jit_set(e, step, jit_min(e, jit_sub(e, k->end, jit_read(g.v)), jit_sub(e, p->num_groups[0], x)));
    place_group(e, 0, x, jit_read(step));
    place_group(e, 1, jit_binary(e, GCC_JIT_BINARY_OP_MODULO, yz, p->num_groups[1]), NULL);
    place_group(e, 2, jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, yz, p->num_groups[1]), NULL);
    if (e->sub_groups)
        p->items = jit_read(jit_keep(e, jit_mul(e, jit_mul(e, p->extent[0], p->extent[1]), p->extent[2])));
    if (e->groups)
        groups_run(e);
    else
        items_run(e, e->kernel->body->first, NULL);
    counted_end(e, &g);
}

static void see_group_use(struct ir_inst *inst, void *data)
{
    bool *merges = data;
    if (is_of_sub_group(inst)) *merges = false;
    switch (inst->op) {
    case IR_OP_LOCAL_ID:
    case IR_OP_LOCAL_LINEAR_ID:
    case IR_OP_LOCAL_SIZE:
    case IR_OP_GROUP_ID:
    case IR_OP_BARRIER ... IR_OP_GROUP_SCAN_EXCL: *merges = false; break;
    case IR_OP_GLOBAL:
        if (inst->attrs.global->space == IR_SPACE_LOCAL) *merges = false;
        break;
    default: break;
    }
}

static bool may_merge(const struct ir_function *kernel)
{
    bool merges = true;
    for (uint32_t i = 0; i < kernel->n_params; i++) {
        ir_type t = kernel->params[i].value->type;
        if (ir_type_is_ptr(t) && ir_type_space(t) == IR_SPACE_LOCAL) merges = false;
    }
    ir_walk(kernel->body, see_group_use, &merges);
    return merges;
}

static void load_flags(struct entry *k)
{
    struct emit *e = k->e;
    if ((k->loops && !e->groups) || e->sub_groups) return;
    rval flags = jit_add(e, k->launch, jit_u64(e, offsetof(struct kernel_launch, flags)));
    rval bit = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(jit_memory(e, jit_type(e, IR_KIND_I32), flags, 4)),
                          jit_int(e, IR_KIND_I32, KERNEL_LAUNCH_STREAM));
    e->wants_stream = jit_read(jit_keep(e, jit_compare(e, GCC_JIT_COMPARISON_NE, bit, jit_int(e, IR_KIND_I32, 0))));
}

static void place_scratch(struct entry *k, rval start)
{
    struct emit *e = k->e;
    struct place *p = &e->place;
    k->scratch_per_item = groups_place(e, start);
    rval items = jit_mul(e, jit_mul(e, p->local_size[0], p->local_size[1]), p->local_size[2]);
    p->scratch = (struct span){start, jit_read(jit_keep(e, jit_mul(e, items, jit_u64(e, k->scratch_per_item))))};
}

static void emit_entry(struct emit *e, struct entry *k)
{
    static const char *const names[] = {"launch", "args", "first", "end", "local"};
    gcc_jit_param *params[5];
    rval *fields[] = {&k->launch, &k->args, &k->first, &k->end, &k->local};
    for (int i = 0; i < 5; i++) {
        params[i] = gcc_jit_context_new_param(e->gcc, NULL, jit_type(e, IR_KIND_I64), names[i]);
        *fields[i] = gcc_jit_param_as_rvalue(params[i]);
    }
    e->function = gcc_jit_context_new_function(e->gcc, NULL, GCC_JIT_FUNCTION_EXPORTED, jit_c(e, GCC_JIT_TYPE_VOID),
                                               KERNEL_ENTRY_SYMBOL, 5, params, 0);
    jit_begin(e, jit_block(e));
    load_launch(k);
    load_arguments(k);
    place_globals(k);
    load_flags(k);
    rval scratch = jit_add(e, k->local, jit_u64(e, (k->static_local + 63) / 64 * 64));
    if (e->groups) place_scratch(k, jit_read(jit_keep(e, scratch)));
    run_groups(k);
    if (e->streamed) prim_fence(e);
    gcc_jit_block_end_with_void_return(e->block, NULL);
}

static void emit_info(struct emit *e, const struct entry *k)
{
    struct kernel_object_info info = {.abi_version = KERNEL_ABI_VERSION,
                                      .lanes = e->width,
                                      .args_size = k->args_size,
                                      .static_local_size = k->static_local,
                                      .scratch_per_item = k->scratch_per_item,
                                      .sub_group_size = e->sub_groups ? e->width : 0};
    gcc_jit_type *words = gcc_jit_context_new_array_type(e->gcc, NULL, jit_type(e, IR_KIND_I32), sizeof info / 4);
    lval v = gcc_jit_context_new_global(e->gcc, NULL, GCC_JIT_GLOBAL_EXPORTED, words, KERNEL_INFO_SYMBOL);
    gcc_jit_global_set_initializer(v, &info, sizeof info);
}

/* ---- the effort, and the library's options ---- */

/* By effort: the statements that may be emitted. 10,000 take one to two seconds and 140 MB with optimization, 0.4
   seconds and 60 MB with none. */
static const struct effort {
    const char *name;
    unsigned most_statements;
    int vector_level, scalar_level; /* of optimization */
} efforts[GCCJIT_EFFORT_NONE + 1] = {
    [GCCJIT_EFFORT_FULL] = {"full", 30000, 2, 3},        [GCCJIT_EFFORT_ONE_VECTOR] = {"one vector", 40000, 2, 3},
    [GCCJIT_EFFORT_LIGHT] = {"light", 60000, 1, 1},      [GCCJIT_EFFORT_SCALAR] = {"scalar", 80000, 1, 1},
    [GCCJIT_EFFORT_MINIMAL] = {"minimal", 150000, 0, 0}, [GCCJIT_EFFORT_NONE] = {"interpreted", 0, 0, 0},
};

const char *gccjit_effort_name(enum gccjit_effort effort)
{
    return efforts[effort].name;
}

/* Of vector code; beyond it gcc's time grows faster than the code, in passes that help little there. */
enum { MOST_STATEMENTS_AT_O2 = 6000 };

static int optimization(unsigned width, unsigned statements, const struct effort *effort)
{
    if (width == 1) return effort->scalar_level;
    return statements > MOST_STATEMENTS_AT_O2 && effort->vector_level > 1 ? 1 : effort->vector_level;
}

static void set_options(gcc_jit_context *gcc, const struct isa *isa, unsigned width, int level)
{
    static const char *const common[] = {"-fPIC",
                                         "-ffp-contract=off",
                                         "-fno-math-errno",
                                         "-fno-trapping-math",
                                         "-fwrapv",
                                         "-fno-strict-aliasing",
                                         "-fno-asynchronous-unwind-tables",
                                         "-fno-stack-protector",
                                         "-fno-tree-pre", /* gcc 12's crashes on some calls of fma */
                                         "--param=ggc-min-heapsize=8192",
                                         "--param=ggc-min-expand=30",
                                         NULL};
    static const char *const scalar[] = {"-fvect-cost-model=dynamic", "--param=vect-max-version-for-alias-checks=256",
                                         NULL};
    for (const char *const *o = common; *o; o++) gcc_jit_context_add_command_line_option(gcc, *o);
    for (const char *const *o = isa->options; *o; o++) gcc_jit_context_add_command_line_option(gcc, *o);
    for (const char *const *o = scalar; width == 1 && *o; o++) gcc_jit_context_add_command_line_option(gcc, *o);
    gcc_jit_context_set_int_option(gcc, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL, level);
    gcc_jit_context_set_bool_print_errors_to_stderr(gcc, 0);
    gcc_jit_context_set_bool_allow_unreachable_blocks(gcc, 1);
}

/* ---- the width ---- */

static void see_heavy(struct ir_inst *inst, void *data)
{
    struct entry *k = data;
    if (inst->op == IR_OP_LOOP) k->loops = true;
    if (inst->op >= IR_OP_ACOS && inst->op <= IR_OP_TGAMMA) k->math = true;
}

/* Two vectors in flight where the work is in loops or functions; one where it is in memory; and a sub-group is one. */
static void choose_width(struct emit *e, bool heavy, enum gccjit_isa isa, enum gccjit_effort effort)
{
    bool scalar = effort >= GCCJIT_EFFORT_SCALAR || isa == GCCJIT_ISA_GENERIC;
    e->compact = effort > GCCJIT_EFFORT_FULL;
    e->sub_groups = subgroup_used(e->kernel);
    e->isa = isa_get(isa);
    if (e->sub_groups) {
        e->width = subgroup_size(e->kernel);
        e->isa = isa_of_sub_group(isa, e->width);
    } else {
        e->width = scalar ? 1 : e->isa->vector_bytes / 4 * (heavy && !e->compact ? 2 : 1);
    }
}

static void find_uniformity(struct emit *e)
{
    bool one = e->width == 1;
    uniformity_find(&e->uniformity, e->arena, e->kernel, one ? TOGETHER_ONE : TOGETHER_ROW);
    if (e->sub_groups && !one) uniformity_find(&e->flat_uniformity, e->arena, e->kernel, TOGETHER_FLAT);
}

static void prepare_emit(struct emit *e)
{
    find_uniformity(e);
    e->values = arena_alloc(e->arena, (e->uniformity.n_values + 1) * sizeof *e->values);
    e->sums = arena_alloc(e->arena, (e->uniformity.n_values + 1) * sizeof *e->sums);
    e->shared = arena_alloc(e->arena, (e->uniformity.n_values + 1) * sizeof *e->shared);
    e->storage = arena_alloc(e->arena, (e->uniformity.n_insts + 1) * sizeof *e->storage);
    e->global_address = arena_alloc(e->arena, (e->module->n_globals + 1) * sizeof *e->global_address);
    for (uint32_t i = 0; i < e->module->n_globals; i++) e->module->globals[i]->scratch = i;
    if (regions_needed(e->kernel)) groups_prepare(e);
}

/* False: it is more than the effort allows. Nothing needs to be undone: all lies in the context and the arena. */
static bool emit_kernel(struct emit *e, struct entry *k)
{
    if (setjmp(e->too_large)) return false;
    prepare_emit(e);
    emit_entry(e, k);
    emit_info(e, k);
    return true;
}

/* Emits the kernel, which is prepared and checked, and compiles it: 0, -2 as gccjit_compile(), or 1 where it is too
   large for that effort. */
static int compile_with(enum gccjit_effort effort, struct ir_function *kernel, const struct gccjit_options *options,
                        struct gccjit_object *object, struct diag_list *list)
{
    struct emit e = {.module = kernel->module,
                     .kernel = kernel,
                     .arena = arena_new(),
                     .most_statements = efforts[effort].most_statements};
    struct entry k = {.e = &e};
    ir_walk(kernel->body, see_heavy, &k);
    choose_width(&e, k.loops || k.math, options->target.isa, effort);
    k.merges = may_merge(kernel);
    e.gcc = gcc_jit_context_acquire();
    int result = emit_kernel(&e, &k) ? 0 : 1;
    set_options(e.gcc, e.isa, e.width, optimization(e.width, e.n_statements, &efforts[effort]));
    if (result == 0 && !options->emit_only)
        result = assemble_object(e.gcc, kernel->name, options->keep_assembly, object, list) ? -2 : 0;
    object->lanes = e.width;
    object->effort = effort;
    object->statements = e.n_statements;
    gcc_jit_context_release(e.gcc);
    arena_free(e.arena);
    return result;
}

/* The kernel in a module of its own, ready to be emitted; NULL with findings. */
static struct ir_function *prepare(const struct ir_function *kernel, struct diag_list *list)
{
    struct ir_module *module = ir_module_new("kernel");
    struct ir_function *copy = ir_function_copy(module, kernel, kernel->name);
    pipeline_run(&pipeline_code, copy);
    if (!check_kernel(copy, list)) {
        ir_module_free(module);
        return NULL;
    }
    pass_run(&pass_barrier_uniformity, copy);
    if (regions_needed(copy)) regions_cut(copy);
    return copy;
}

static void find_call(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_CALL) *(bool *)data = true;
}

/* Calls that could not be put in place: with what they call the kernel is larger than any that there is code for. */
static bool has_calls(const struct ir_function *kernel)
{
    bool found = false;
    ir_walk(kernel->body, find_call, &found);
    return found;
}

int gccjit_compile(const struct ir_function *kernel, const struct gccjit_options *options, struct gccjit_object *object,
                   struct diag_list *list)
{
    int result = 1;
    *object = (struct gccjit_object){0};
    for (int effort = options->effort; result == 1 && effort < GCCJIT_EFFORT_COUNT; effort++) {
        struct ir_function *copy = prepare(kernel, list);
        if (!copy) return -1;
        bool whole = !has_calls(copy);
        if (whole) result = compile_with((enum gccjit_effort)effort, copy, options, object, list);
        ir_module_free(copy->module);
        if (!whole) break;
    }
    if (result != 0) gccjit_object_clear(object);
    return result;
}

void gccjit_object_clear(struct gccjit_object *object)
{
    free(object->elf);
    free(object->assembly);
    *object = (struct gccjit_object){0};
}
