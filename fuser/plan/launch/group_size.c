/* The work-groups of a launch where nobody asked for a local size. */
#include "fuser/plan/launch/group_size.h"

#include "fuser/cpu/rows/row_dimension.h"
#include "fuser/graph/local_size.h"
#include "fuser/graph/range.h"
#include "fuser/plan/mapping/launch_range.h"

/* Of a plane whose rows are shorter than work-groups are, one row; 0: that is not so. Bands go by rows of work-groups:
   of the small levels of a pyramid one of eight rows would be half a picture. */
static uint64_t items_of_row(const struct launching *l, const struct attempt *r, unsigned along)
{
    enum { LEAST = 64 };
    const struct fuser_options *o = l->ctx->options;
    const struct nd_range *range = &r->range;
    bool is_plane = range->dims > 1 && range->global[1] > 1 && (range->dims < 3 || range->global[2] == 1);
    bool may_band = o->mode == FUSER_MODE_ENABLE && o->device.machine.cache_bytes && !l->ctx->tuned->no_bands;
    return is_plane && may_band && range->global[along] >= LEAST ? range->global[along] : 0;
}

/* None of its kernels can tell one work-group from another. */
static bool sees_no_groups(const struct launching *l, const struct attempt *r)
{
    const bool *barriers = attempt_barriers(r->group, r->run);
    if (attempt_n_first(r->group, r->run) < r->run.n) return false;
    for (uint32_t i = 0; i < r->run.n; i++)
        if (barriers[i] || !launch_range_sees_no_groups(l->facts, r->run.nodes[i])) return false;
    return true;
}

/* As tuning chose, or bands want it, where nobody can tell. */
static uint64_t most_group_items(const struct launching *l, const struct attempt *r, unsigned along)
{
    uint64_t most = l->ctx->options->device.max_work_group_size, wanted = l->ctx->tuned->group_items;
    if (!wanted) wanted = items_of_row(l, r, along);
    return !wanted || (most && most < wanted) || !sees_no_groups(l, r) ? most : wanted;
}

void group_size_choose(const struct launching *l, const struct attempt *r, unsigned along, struct nd_range *range)
{
    struct fuser_device device = l->ctx->options->device;
    device.max_work_group_size = most_group_items(l, r, along);
    local_size_choose(range, &device, l->facts->graph->nodes[r->run.nodes[0]].kernel, along);
}

/* Where neighbours in x are not neighbours in memory, and those in another dimension are, code runs along that one, and
   its rows should not end with each work-group. On a GPU neighbours are those in x whatever their groups are. */
unsigned group_size_long_dimension(const struct launching *l, const struct attempt *r)
{
    bool is_open = !l->ctx->options->device.is_gpu && !range_has_local(&r->range) && r->range.dims > 1;
    return is_open && sees_no_groups(l, r) ? row_dimension_find(r->module->functions[0]) : 0;
}
