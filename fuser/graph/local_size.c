/* The local size where nobody asked for one: long along x, or the dimension that memory runs along, for the vectors and
   for the caches. */
#include "fuser/graph/local_size.h"

#include "fuser/graph/range.h"

enum {
    MOST_ITEMS = 1024,
    GPU_ITEMS = 256 /* several groups on each part of a GPU hide each other's beginning and end */
};

static bool take_hint(struct nd_range *range, uint64_t most, const uint32_t hint[3])
{
    uint64_t items = 1;
    for (unsigned d = 0; d < 3; d++) {
        if (!hint[d]) return false;
        items *= hint[d];
        if (items > most || range->global[d] % hint[d]) return false;
    }
    for (unsigned d = 0; d < 3; d++) range->local[d] = hint[d];
    return true;
}

void local_size_choose(struct nd_range *range, const struct fuser_device *device, const struct ir_function *kernel,
                       unsigned along)
{
    uint64_t most = device->max_work_group_size, wanted = device->is_gpu ? GPU_ITEMS : MOST_ITEMS;
    uint64_t left = most && most < wanted ? most : wanted;
    if (range_has_local(range) || take_hint(range, most, kernel->work_group_size_hint)) return;
    for (unsigned i = 0; i < 3; i++) {
        unsigned d = i == 0 ? along : i == along ? 0 : i;
        uint64_t size = range->global[d] < left ? range->global[d] : left;
        /* A divisor that is nearly as large saves the incomplete groups at the end. */
        for (uint64_t even = size; even > size / 2; even--)
            if (range->global[d] % even == 0) {
                size = even;
                break;
            }
        range->local[d] = size;
        left /= size;
    }
}
