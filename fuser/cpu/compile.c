/* A kernel is prepared, emitted with as much effort as its size allows, and made an object. */
#include "fuser/cpu/compile.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/cpu/jit/emit.h"
#include "fuser/cpu/object/assemble.h"
#include "fuser/cpu/object/gcc_options.h"
#include "fuser/cpu/prepare/check.h"
#include "fuser/cpu/prepare/code_passes.h"
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/rows/group_lanes.h"
#include "fuser/cpu/rows/joined_groups.h"
#include "fuser/cpu/rows/joined_rows.h"
#include "fuser/cpu/rows/row_dimension.h"
#include "fuser/cpu/target/isa.h"
#include "fuser/cpu/work_group/entry.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/passes/passes.h"

/* ---- the effort ---- */

/* By effort: the statements that may be emitted. One takes 50 microseconds of gcc's time, 75 in large kernels, and 35
   without optimization: a second vector, which gains up to 40 percent, may cost a quarter of a second in all, one
   vector a second. Beyond the last there would be no code at all. */
static const struct effort {
    const char *name;
    unsigned most_statements;
    bool optimizes;
} efforts[CPU_EFFORT_NONE + 1] = {
    [CPU_EFFORT_FULL] = {"full", 5000, true},      [CPU_EFFORT_ONE_VECTOR] = {"one vector", 14000, true},
    [CPU_EFFORT_SCALAR] = {"scalar", 14000, true}, [CPU_EFFORT_MINIMAL] = {"minimal", 150000, false},
    [CPU_EFFORT_NONE] = {"interpreted", 0, false},
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

/* Two vectors in flight where the work is in loops or functions; one where it is in memory; and a sub-group is one. A
   single work-item fills none. */
static void choose_width(struct emit *e, bool heavy, enum cpu_isa isa, enum cpu_effort effort)
{
    bool alone = e->kernel->assumes & IR_ASSUME_ONE_ITEM;
    bool scalar = alone || effort >= CPU_EFFORT_SCALAR || isa == CPU_ISA_GENERIC;
    e->compact = effort > CPU_EFFORT_FULL;
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

/* Emits the kernel, which is prepared and checked, and compiles it: 0, -2 as cpu_compile(), or 1 where it is too
   large for that effort, or groups that run as one are no neighbours in its x. */
static int compile_with(const struct attempt *a, struct ir_function *kernel, const struct cpu_options *options,
                        struct cpu_object *object, struct diag_list *list)
{
    enum cpu_effort effort = a->effort;
    struct emit e = {.module = kernel->module,
                     .kernel = kernel,
                     .arena = arena_new(),
                     .rows = a->rows,
                     .groups = a->groups,
                     .jit.most_statements = most_statements(a)};
    struct work work = {0};
    struct object_file file = {0};
    e.group_lanes = a->groups == LANE_GROUPS;
    e.row_dim = e.group_lanes ? 0 : row_dimension_choose(kernel);
    ir_walk(kernel->body, see_work, &work);
    choose_width(&e, work.loops || work.functions, options->target.isa, effort);
    e.gcc = gcc_jit_context_acquire();
    bool neighbours = a->groups == 1 || !e.row_dim;
    int result = neighbours && emit_entry(&e, work.loops) ? 0 : 1;
    gcc_options_set(e.gcc, e.isa->options, gcc_effort(e.width, &efforts[effort]), a->groups == JOINED_GROUPS);
    if (result == 0 && !options->emit_only)
        result = assemble_object(e.gcc, kernel->name, options->keep_assembly, &file, list) ? -2 : 0;
    *object = (struct cpu_object){.elf = file.elf,
                                  .elf_size = file.elf_size,
                                  .assembly = file.assembly,
                                  .lanes = e.width,
                                  .effort = effort,
                                  .statements = e.jit.n_statements};
    gcc_jit_context_release(e.gcc);
    arena_free(e.arena);
    return result;
}

/* What all that follows begins with. Distances that became known are made part of the indices. */
static void prepare_code(struct ir_function *kernel)
{
    if (pass_run(&pass_unroll_steps, kernel)) pipeline_run(&pipeline_cleanup, kernel);
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

/* The kernel in a module of its own, ready to be emitted; NULL with findings. */
static struct ir_function *prepare(const struct ir_function *kernel, struct attempt *a, enum cpu_isa isa,
                                   struct diag_list *list)
{
    struct ir_module *module = ir_module_new("kernel");
    struct ir_function *copy = ir_function_copy(module, kernel, kernel->name);
    prepare_code(copy);
    if (!check_kernel(copy, list)) {
        ir_module_free(module);
        return NULL;
    }
    join(copy, a, isa);
    pipeline_run(&pipeline_regions, copy);
    return copy;
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

int cpu_compile(const struct ir_function *kernel, const struct cpu_options *options, struct cpu_object *object,
                struct diag_list *list)
{
    int result = 1;
    *object = (struct cpu_object){0};
    unsigned most = options->effort == CPU_EFFORT_FULL ? UINT_MAX : 1; /* joined */
    struct attempt a = {options->effort, most, most};
    while (result == 1 && a.effort < CPU_EFFORT_COUNT) {
        struct ir_function *copy = prepare(kernel, &a, options->target.isa, list);
        if (!copy) return -1;
        bool whole = !has_calls(copy);
        if (whole) result = compile_with(&a, copy, options, object, list);
        ir_module_free(copy->module);
        if (!whole) break;
        if (!is_joined(&a)) a.effort++;
        if (a.groups == 1) a.rows = 1;
        a.groups = 1;
    }
    if (result != 0) cpu_object_clear(object);
    return result;
}

void cpu_object_clear(struct cpu_object *object)
{
    free(object->elf);
    free(object->assembly);
    *object = (struct cpu_object){0};
}
