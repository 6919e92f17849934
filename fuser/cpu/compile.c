/* A kernel is prepared, emitted with as much effort as its size allows, and made an object. */
#include "fuser/cpu/compile.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/cpu/jit/constant.h"
#include "fuser/cpu/jit/emit.h"
#include "fuser/cpu/object/assemble.h"
#include "fuser/cpu/object/gcc_options.h"
#include "fuser/cpu/prepare/check.h"
#include "fuser/cpu/prepare/code_passes.h"
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/prepare/last_group.h"
#include "fuser/cpu/rows/copied_bins.h"
#include "fuser/cpu/rows/group_lanes.h"
#include "fuser/cpu/rows/joined_groups.h"
#include "fuser/cpu/rows/joined_rows.h"
#include "fuser/cpu/rows/row_dimension.h"
#include "fuser/cpu/target/isa.h"
#include "fuser/cpu/work_group/entry.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/passes/passes.h"

/* ---- the effort ---- */

/* By effort: the statements that may be emitted. One takes 50 microseconds of gcc's time, 90 in large kernels, and 40
   without optimization: a second vector, which gains up to 40 percent, may cost a quarter of a second in all, and
   anything a second. Without code, straight kernels are twice as fast as one work-item at a time that is not optimized:
   that is no use for larger ones. */
static const struct effort {
    const char *name;
    unsigned most_statements;
    bool optimizes;
} efforts[CPU_EFFORT_NONE + 1] = {
    [CPU_EFFORT_FULL] = {"full", 4500, true},         [CPU_EFFORT_ONE_VECTOR] = {"one vector", 10000, true},
    [CPU_EFFORT_SCALAR] = {"scalar", 10000, true},    [CPU_EFFORT_PLAIN] = {"plain vector", 25000, false},
    [CPU_EFFORT_MINIMAL] = {"minimal", 25000, false}, [CPU_EFFORT_NONE] = {"interpreted", 0, false},
};

const char *cpu_effort_name(enum cpu_effort effort)
{
    return efforts[effort].name;
}

/* Vectors are explicit; without them gcc is to find some. */
static enum gcc_effort gcc_effort(unsigned width, const struct effort *effort)
{
    if (!effort->optimizes) return GCC_EFFORT_NONE;
    return width == 1 && effort == &efforts[CPU_EFFORT_FULL] ? GCC_EFFORT_VECTORIZE : GCC_EFFORT_LEAN;
}

/* ---- the width ---- */

/* Where the work of a kernel is, if not in memory. */
struct work {
    bool loops, functions;
};

static void see_work(struct ir_inst *inst, void *data)
{
    struct work *w = data;
    if (inst->op == IR_OP_LOOP) w->loops = true;
    if (ir_op_is_function(inst->op)) w->functions = true;
}

/* No more lanes than a row of work-items fills, where that is known and rows do not go on in the next work-group. */
static void fit_row(struct emit *e, enum cpu_isa isa)
{
    enum { FEWEST_LANES = 4 };
    unsigned row = e->kernel->work_group_size[0];
    if (!row || !uses_work_group_operations(e->kernel)) return;
    while (e->width >= 2 * row && e->width > FEWEST_LANES) e->width /= 2;
    if (e->width < e->isa->vector_bytes / 4) e->isa = isa_of_sub_group(isa, e->width);
}

/* Before AVX2 vectors are not shifted by vectors, and what gcc does instead takes it longer than all the rest. */
static bool takes_one_by_one(enum cpu_effort effort, enum cpu_isa isa)
{
    return effort == CPU_EFFORT_SCALAR || effort == CPU_EFFORT_MINIMAL ||
           (effort == CPU_EFFORT_PLAIN && isa < CPU_ISA_AVX2);
}

/* Two vectors in flight where the work is in loops or functions; one where it is in memory; and a sub-group is one. A
   single work-item fills none. */
static void choose_width(struct emit *e, bool heavy, enum cpu_isa isa, enum cpu_effort effort)
{
    bool alone = e->kernel->assumes & IR_ASSUME_ONE_ITEM;
    bool scalar = alone || takes_one_by_one(effort, isa) || isa == CPU_ISA_GENERIC;
    e->compact = effort > CPU_EFFORT_FULL;
    e->once = effort == CPU_EFFORT_PLAIN;
    e->sub_groups = uses_sub_groups(e->kernel);
    e->isa = isa_get(isa);
    if (e->sub_groups) {
        e->width = sub_group_size_of(e->kernel);
        e->isa = isa_of_sub_group(isa, e->width);
    } else {
        e->width = scalar ? 1 : e->isa->vector_bytes / 4 * (heavy && !e->compact ? 2 : 1);
        if (!scalar) fit_row(e, isa);
    }
}

/* What is done with a kernel. */
struct attempt {
    enum cpu_effort effort;
    unsigned rows, groups; /* that run as one (rows/joined_rows.c, rows/joined_groups.c, rows/group_lanes.c) */
};

static bool is_joined(const struct attempt *a)
{
    return a->rows > 1 || a->groups > 1;
}

/* What runs as one is more code: half of what may be emitted else. */
static unsigned most_statements(const struct attempt *a)
{
    return efforts[a->effort].most_statements / (is_joined(a) ? 2 : 1);
}

/* A function of an object: the kernel, or one side of it (prepare/last_group.h). */
struct side {
    enum group_side which;
    struct attempt attempt;
    struct ir_function *kernel; /* prepared and checked, in a module of its own; NULL: it is to be prepared */
    unsigned row_dim;           /* that its x is, as in struct emit */
    struct emit e;
    struct kernel_object_info info;
};

/* Emits a side: 0, or 1 where it is too large for that effort, or groups that run as one are no neighbours in its x. */
static int emit_side(struct side *s, const struct cpu_options *options, gcc_jit_context *gcc, struct arena *arena)
{
    static const char *const names[] = {KERNEL_ENTRY_SYMBOL, KERNEL_ENTRY_SYMBOL "_others",
                                        KERNEL_ENTRY_SYMBOL "_last"};
    const struct attempt *a = &s->attempt;
    struct work work = {0};
    s->e = (struct emit){.gcc = gcc,
                         .name = names[s->which],
                         .module = s->kernel->module,
                         .kernel = s->kernel,
                         .arena = arena,
                         .rows = a->rows,
                         .groups = a->groups,
                         .group_lanes = a->groups == LANE_GROUPS,
                         .row_dim = s->row_dim,
                         .gathers_slowly = options->target.gathers_slowly,
                         .jit.most_statements = most_statements(a)};
    ir_walk(s->kernel->body, see_work, &work);
    choose_width(&s->e, work.loops || work.functions, options->target.isa, a->effort);
    bool neighbours = a->groups == 1 || !s->row_dim;
    return neighbours && entry_emit(&s->e, work.loops, &s->info) ? 0 : 1;
}

/* The record, and the entry if there are two sides. */
static void emit_rest(struct side *sides, unsigned n, gcc_jit_context *gcc, struct arena *arena)
{
    struct kernel_object_info info = sides[0].info;
    struct emit entry = {.gcc = gcc, .name = KERNEL_ENTRY_SYMBOL, .arena = arena, .jit.most_statements = UINT_MAX};
    if (n > 1) {
        info = entry_info_of_sides(&sides[0].info, &sides[1].info);
        entry_emit_sides(&entry, sides[0].e.function, sides[1].e.function);
    }
    entry_emit_info(&entry, &info);
    constants_clear(&entry);
}

static const struct isa *widest_isa(const struct side *sides, unsigned n)
{
    const struct isa *isa = sides[0].e.isa;
    for (unsigned i = 1; i < n; i++)
        if (sides[i].e.isa->vector_bytes > isa->vector_bytes) isa = sides[i].e.isa;
    return isa;
}

/* The widest instructions, and optimization unless one of them has none. */
static void set_options(const struct side *sides, unsigned n, gcc_jit_context *gcc)
{
    enum gcc_effort effort = GCC_EFFORT_VECTORIZE;
    bool keeps_order = false;
    for (unsigned i = 0; i < n; i++) {
        enum gcc_effort own = gcc_effort(sides[i].e.width, &efforts[sides[i].attempt.effort]);
        if (own < effort) effort = own;
        keeps_order |= sides[i].attempt.groups == JOINED_GROUPS;
    }
    gcc_options_set(gcc, widest_isa(sides, n)->options, effort, keeps_order);
}

/* Emits and compiles the sides: 0, -2 as cpu_compile(), or 1 where *failed is as emit_side() says. */
static int compile_with(struct side *sides, unsigned n, const struct cpu_options *options, struct cpu_object *object,
                        struct diag_list *list, unsigned *failed)
{
    struct arena *arena = arena_new();
    struct object_file file = {0};
    gcc_jit_context *gcc = gcc_jit_context_acquire();
    int result = 0;
    for (*failed = 0; *failed < n && result == 0; ++*failed) result = emit_side(&sides[*failed], options, gcc, arena);
    if (result) --*failed;
    if (result == 0) {
        emit_rest(sides, n, gcc, arena);
        set_options(sides, n, gcc);
    }
    if (result == 0 && !options->emit_only)
        result = assemble_object(gcc, sides[0].kernel->name, widest_isa(sides, n)->assembler, options->keep_assembly,
                                 &file, list)
                     ? -2
                     : 0;
    *object = (struct cpu_object){
        .elf = file.elf, .elf_size = file.elf_size, .assembly = file.assembly, .lanes = sides[0].e.width};
    for (unsigned i = 0; i < n; i++) {
        object->statements += sides[i].e.jit.n_statements;
        if (sides[i].attempt.effort > object->effort) object->effort = sides[i].attempt.effort;
    }
    for (unsigned i = 0; i < n; i++) constants_clear(&sides[i].e);
    gcc_jit_context_release(gcc);
    arena_free(arena);
    return result;
}

/* What all that follows begins with. Distances that became known are made part of the indices. */
static void prepare_code(struct ir_function *kernel)
{
    bool rows = pass_run(&pass_unroll_rows, kernel), steps = pass_run(&pass_unroll_steps, kernel);
    if (rows || steps) pipeline_run(&pipeline_cleanup, kernel);
    pipeline_run(&pipeline_code, kernel);
}

/* Groups as lanes; else rows, and then groups, of a row no longer than a vector. a: at most so many, then as many as
 * there are. */
static void join(struct ir_function *kernel, struct attempt *a, enum cpu_isa isa)
{
    uint32_t rows = kernel->work_group_size[1];
    if (a->groups >= LANE_GROUPS && pass_run(&pass_group_lanes, kernel)) {
        *a = (struct attempt){a->effort, 1, LANE_GROUPS};
        return;
    }
    if (a->rows > 1) pass_run(&pass_joined_rows, kernel);
    a->rows = rows ? rows / kernel->work_group_size[1] : 1;
    bool narrow = kernel->work_group_size[0] <= isa_get(isa)->vector_bytes / 4;
    a->groups = a->groups > 1 && narrow && pass_run(&pass_joined_groups, kernel) ? JOINED_GROUPS : 1;
}

/* The side of the kernel in a module of its own, ready to be emitted; false with findings. */
static bool prepare(struct side *s, const struct ir_function *kernel, enum cpu_isa isa, struct diag_list *list)
{
    s->kernel = last_group_take(kernel, s->which);
    prepare_code(s->kernel);
    if (!check_kernel(s->kernel, list)) return false;
    join(s->kernel, &s->attempt, isa);
    pipeline_run(&pipeline_regions, s->kernel);
    bool copies = s->attempt.effort == CPU_EFFORT_FULL && isa != CPU_ISA_GENERIC && s->attempt.groups != LANE_GROUPS;
    if (copies) copied_bins_make(s->kernel);
    s->row_dim = s->attempt.groups == LANE_GROUPS ? 0 : row_dimension_choose(s->kernel);
    return true;
}

static void see_call(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_CALL) *(bool *)data = true;
}

/* Calls that could not be put in place: with what they call the kernel is larger than any that there is code for. */
static bool has_calls(const struct ir_function *kernel)
{
    bool found = false;
    ir_walk(kernel->body, see_call, &found);
    return found;
}

bool cpu_check(const struct ir_function *kernel, struct diag_list *list)
{
    struct ir_module *module = ir_module_new("kernel");
    struct ir_function *copy = ir_function_copy(module, kernel, kernel->name);
    prepare_code(copy);
    bool result = check_kernel(copy, list);
    ir_module_free(module);
    return result;
}

static void forget(struct side *s)
{
    if (s->kernel) ir_module_free(s->kernel->module);
    s->kernel = NULL;
}

/* Less of the side that was too large. Its kernel is the same with less effort, but not apart. */
static void try_less(struct side *s)
{
    struct attempt *a = &s->attempt;
    if (is_joined(a))
        forget(s);
    else
        a->effort++;
    if (a->groups == 1) a->rows = 1;
    a->groups = 1;
}

/* One attempt: as cpu_compile(), or 1 with `whole` where *failed is to have less. */
static int compile_sides(struct side *sides, unsigned n, const struct ir_function *kernel,
                         const struct cpu_options *options, struct cpu_object *object, struct diag_list *list,
                         unsigned *failed, bool *whole)
{
    for (unsigned i = 0; i < n; i++)
        if (!sides[i].kernel && !prepare(&sides[i], kernel, options->target.isa, list)) return -1;
    for (unsigned i = 0; i < n; i++) *whole = *whole && !has_calls(sides[i].kernel);
    return *whole ? compile_with(sides, n, options, object, list, failed) : 1;
}

int cpu_compile(const struct ir_function *kernel, const struct cpu_options *options, struct cpu_object *object,
                struct diag_list *list)
{
    unsigned most = options->effort == CPU_EFFORT_FULL ? UINT_MAX : 1; /* joined */
    const struct attempt first = {options->effort, most, most};
    bool sided = kernel->assumes & IR_ASSUME_LAST_GROUP, whole = true;
    struct side sides[2] = {{.which = sided ? GROUP_OTHERS : GROUP_ALL, .attempt = first},
                            {.which = GROUP_LAST, .attempt = first}};
    unsigned n = sided ? 2 : 1, failed = 0;
    int result = 1;
    *object = (struct cpu_object){0};
    while (result == 1 && whole && sides[failed].attempt.effort < CPU_EFFORT_COUNT) {
        result = compile_sides(sides, n, kernel, options, object, list, &failed, &whole);
        if (result == 1 && whole) try_less(&sides[failed]);
    }
    for (unsigned i = 0; i < n; i++) forget(&sides[i]);
    if (result != 0) cpu_object_clear(object);
    return result;
}

void cpu_object_clear(struct cpu_object *object)
{
    free(object->elf);
    free(object->assembly);
    *object = (struct cpu_object){0};
}
