/* A launch as boxes of work-groups of one size. */
#include "daemon/executor/devices/gpu/pieces.h"

#include <inttypes.h>

#include "proto/include/fusiond/status.h"

/* What a dimension divides into. */
struct cut {
    uint32_t n, first[2], count[2], size[2];
};

static struct cut cut_dimension(const struct program_launch *l, unsigned d, bool whole_groups)
{
    uint64_t local = l->range.local[d], rest = l->range.global[d] % local;
    uint32_t groups = (uint32_t)l->num_groups[d];
    if (!rest || !whole_groups) return (struct cut){1, {0}, {groups}, {(uint32_t)local}};
    if (groups == 1) return (struct cut){1, {0}, {1}, {(uint32_t)rest}};
    return (struct cut){2, {0, groups - 1}, {groups - 1, 1}, {(uint32_t)local, (uint32_t)rest}};
}

static int check_limits(const struct program_launch *l, const struct gpu_description *d, struct error *e)
{
    if (l->group_items > d->max_work_group_size)
        return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL,
                         "device %s (%s) takes work-groups of %" PRIu64 " work-items, not of %" PRIu64, d->device,
                         d->name, d->max_work_group_size, l->group_items);
    for (unsigned i = 0; i < 3; i++) {
        if (l->range.local[i] > d->max_group_sides[i])
            return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL,
                             "device %s (%s) takes %" PRIu64 " work-items in dimension %u of a work-group, not "
                             "%" PRIu64,
                             d->device, d->name, d->max_group_sides[i], i, l->range.local[i]);
        if (l->num_groups[i] > UINT32_MAX)
            return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL,
                             "device %s has no more than 2^32 work-groups in a dimension, not %" PRIu64, d->device,
                             l->num_groups[i]);
    }
    return 0;
}

int gpu_pieces_make(struct gpu_piece pieces[GPU_PIECES], const struct program_launch *launch, bool whole_groups,
                    const struct gpu_description *gpu, struct error *e)
{
    struct cut cuts[3];
    if (check_limits(launch, gpu, e) != 0) return -1;
    for (unsigned d = 0; d < 3; d++) cuts[d] = cut_dimension(launch, d, whole_groups);
    int n = (int)(cuts[0].n * cuts[1].n * cuts[2].n);
    for (int i = 0; i < n; i++) {
        const uint32_t at[3] = {i % cuts[0].n, i / cuts[0].n % cuts[1].n, i / cuts[0].n / cuts[1].n};
        for (unsigned d = 0; d < 3; d++) {
            pieces[i].first[d] = cuts[d].first[at[d]];
            pieces[i].n[d] = cuts[d].count[at[d]];
            pieces[i].size[d] = cuts[d].size[at[d]];
        }
    }
    return n;
}

/* Work-groups of work-items that do several are rows as long as they may be. */
enum { COARSE_GROUP = 256, COARSE_ROW = 32, COARSE_LEAST = 1 << 16 /* work-items that keep a GPU busy */ };

uint32_t gpu_items_of(const struct program_launch *launch, uint32_t items)
{
    const uint64_t *global = launch->range.global;
    bool many = global[0] / items >= COARSE_ROW && global[0] * global[1] * global[2] / items >= COARSE_LEAST;
    return many ? items : 1;
}

static uint32_t least_power(uint64_t n, uint32_t most)
{
    uint32_t power = 1;
    while (power < n && power < most) power *= 2;
    return power;
}

int gpu_coarse_piece(struct gpu_piece *piece, const struct program_launch *launch, uint32_t items, bool whole_rows)
{
    const uint64_t *global = launch->range.global;
    uint32_t row = least_power(global[0] / items, COARSE_GROUP), rows = least_power(global[1], COARSE_GROUP / row);
    while (whole_rows && global[1] % rows != 0) rows /= 2;
    const uint32_t each[3] = {row * items, rows, 1};
    *piece = (struct gpu_piece){.size = {row, rows, 1}};
    for (unsigned d = 0; d < 3; d++) piece->n[d] = (uint32_t)((global[d] + each[d] - 1) / each[d]);
    return 1;
}

bool gpu_next_dispatch(struct gpu_dispatch *d, const struct gpu_piece *piece, const uint64_t most[3])
{
    unsigned dim = 0;
    for (; d->n[0] && dim < 3; dim++) {
        d->at[dim] += d->n[dim];
        if (d->at[dim] < piece->n[dim]) break;
        d->at[dim] = 0;
    }
    if (dim == 3) return false;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t left = piece->n[i] - d->at[i];
        d->n[i] = (uint32_t)(left < most[i] ? left : most[i]);
        d->first[i] = piece->first[i] + (uint32_t)d->at[i];
    }
    return true;
}
