/* Operations of a kernel's code, its gathers among them. */
#include "fuser/plan/graph/operations.h"

#include "fuser/access/access.h"
#include "fuser/cost/cost.h"
#include "fuser/passes/manager/pipelines.h"

static void clear_mark(struct ir_inst *inst, void *data)
{
    (void)data;
    inst->scratch = 0;
}

/* Loads by the places that analysis found for them. */
static void mark_gathers(struct ir_function *f, const struct nd_range *range, const int64_t *numbers)
{
    ir_walk(f->body, clear_mark, NULL);
    struct access_analysis *a = access_analyse_inlined(f, range, 0, true, numbers);
    for (uint32_t i = 0; i < a->n_params; i++)
        for (uint32_t k = 0; k < a->params[i].n_sites; k++) {
            const struct access_site *site = &a->params[i].sites[k];
            if (site->reads && !affine_is_exact(&site->index)) ((struct ir_inst *)site->inst)->scratch = 1;
        }
    access_analysis_free(a);
}

uint64_t operations_of_clean(struct ir_function *kernel, const struct nd_range *range, const int64_t *numbers)
{
    mark_gathers(kernel, range, numbers);
    uint64_t operations = cost_of_block(kernel->body);
    ir_walk(kernel->body, clear_mark, NULL);
    return operations;
}

uint64_t operations_of_kernel(const struct ir_function *kernel, const struct nd_range *range, const int64_t *numbers)
{
    struct ir_module *m = ir_module_new("work");
    struct ir_function *copy = ir_function_copy(m, kernel, NULL);
    pipeline_run(&pipeline_cleanup, copy);
    uint64_t operations = operations_of_clean(copy, range, numbers);
    ir_module_free(m);
    return operations;
}
