/* What one run of a launch does. */
#include "fuser/plan/launch/launch_traffic.h"

#include "fuser/access/access.h"
#include "fuser/access/footprint.h"
#include "fuser/graph/range.h"
#include "fuser/plan/graph/operations.h"
#include "ir/base/arena.h"

uint64_t traffic_of_launch(const struct fuser_launch *launch, const uint64_t *sizes, const uint64_t *most)
{
    uint64_t sum = 0;
    struct access_analysis *a =
        access_analyse(launch->kernel, &launch->range, 0, launch->kernel->assumes & IR_ASSUME_SMALL_MEMORY, NULL);
    for (uint32_t i = 0; i < launch->n_params; i++) {
        if (launch->params[i].kind != FUSER_PARAM_BUFFER) continue;
        bool image = ir_type_kind(launch->kernel->params[i].value->type) == IR_KIND_IMAGE;
        uint64_t bytes = image ? most[i] : footprint_bytes(&a->params[i], &launch->range, sizes[i]);
        sum += bytes < most[i] ? bytes : most[i];
    }
    access_analysis_free(a);
    return sum;
}

const int64_t *numbers_of_launch(const struct plan_facts *f, const struct fuser_launch *launch, struct arena *arena)
{
    int64_t *numbers = arena_alloc(arena, (launch->n_params + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < launch->n_params; i++)
        if (launch->params[i].kind == FUSER_PARAM_VALUE) numbers[i] = f->graph->values[launch->params[i].index].number;
    return numbers;
}

uint64_t operations_of_launch(const struct fuser_launch *launch, const int64_t *numbers)
{
    uint64_t all, each = operations_of_clean(launch->module->functions[0], &launch->range, numbers);
    return __builtin_mul_overflow(each, range_items(&launch->range), &all) ? UINT64_MAX : all;
}
