/*
 * How much code each sub-group function becomes, on each type, size and instruction set: statements given to gcc, whose
 * time and memory follow them. The bound is so many for each register that an instruction's value takes; code that grew
 * with lanes times components would exceed it. (The results are the interpreter's: the table wants some.)
 */
#include <stdio.h>

#include "tests/support/compiled.h"
#include "tests/support/sub_group_table.h"

enum { FIXED = 3500, PER_INSTRUCTION = 18, PER_COMPONENT = 6 };

static enum cpu_isa isas[CPU_ISA_COUNT];
static unsigned most_percent;

/* Instructions, and components of their values; those of 8 bytes count twice. */
struct count {
    unsigned instructions, components;
};

static void count_inst(struct ir_inst *inst, void *data)
{
    struct count *n = data;
    if (!inst->n_results && !inst->n_operands) return;
    const struct ir_value *v = inst->n_results ? inst->results[0] : inst->operands[inst->n_operands - 1];
    unsigned twice = ir_type_is_ptr(v->type) || ir_type_bits(v->type) == 64 ? 2 : 1;
    n->instructions += twice;
    n->components += twice * ir_type_lanes(v->type);
}

static unsigned bound_of(const struct ir_function *kernel, enum cpu_isa isa, uint32_t size)
{
    static const unsigned lanes[CPU_ISA_COUNT] = {4, 4, 8, 16};
    struct count n = {0, 0};
    ir_walk(kernel->body, count_inst, &n);
    unsigned registers = size > lanes[isa] ? size / lanes[isa] : 1;
    return FIXED + registers * (PER_INSTRUCTION * n.instructions + PER_COMPONENT * n.components);
}

static bool is_bounded(unsigned way, const struct ir_function *kernel, uint32_t size)
{
    struct cpu_options options = {.target = cpu_target_host(isas[way]), .emit_only = true};
    struct cpu_object object;
    struct diag_list list = {0};
    if (cpu_compile(kernel, &options, &object, &list) != 0) return false;
    unsigned statements = object.statements, bound = bound_of(kernel, isas[way], size);
    cpu_object_clear(&object);
    diag_clear(&list);
    if (statements * 100 / bound > most_percent) most_percent = statements * 100 / bound;
    if (statements > bound)
        fprintf(stderr, "# %s, sub-groups of %u: %u statements, at most %u are wanted\n", cpu_isa_name(isas[way]), size,
                statements, bound);
    return statements <= bound;
}

static bool run(unsigned way, const struct ir_function *kernel, const struct nd_range *range,
                const struct interp_arg *args, uint32_t *size)
{
    struct interp_options options = {.sub_group_size = *size};
    struct interp_result result;
    bool good = is_bounded(way, kernel, *size) && interp_run(kernel, range, args, &options, &result) == 0;
    if (good) interp_result_clear(&result);
    return good;
}

/* The narrowest, the primary and the widest sub-groups; the widest vectors and none. */
static bool takes(unsigned way, unsigned number, uint32_t size, unsigned lanes)
{
    (void)way, (void)number;
    return (size == 4 || size == 16 || size == 64) && (lanes == 1 || lanes == 16);
}

int main(void)
{
    struct sub_group_runner runner = {"cpu_code_size", compiled_isas(isas), run, takes, NULL};
    int status = sub_group_table_main(&runner);
    fprintf(stderr, "# the largest has %u%% of what is allowed\n", most_percent);
    return status;
}
