/* Targets as devices. */
#include "fuser/ahead/target_device.h"

#include "ir/core/aspects.h"

enum {
    MAX_WORK_GROUP = 4096,
    LOCAL_BYTES = 256 << 10,
    MAX_SIZES = sizeof((struct fuser_device *)0)->sub_group_sizes / 4
};

void target_device_set_aspects(struct fuser_device *d, const struct ir_target *t)
{
    d->aspects = 0;
    for (uint32_t i = 0; i < t->n_aspects; i++)
        for (unsigned bit = 0; bit < IR_ASPECT_COUNT; bit++)
            if (ir_aspect_number(bit) == t->aspects[i]) d->aspects |= (uint64_t)1 << bit;
    d->aspect_numbers = t->aspects;
    d->n_aspect_numbers = t->n_aspects;
    d->can_fuse = d->aspects >> IR_ASPECT_BIT_GRAPH_FUSION & 1;
}

struct fuser_device target_device(const struct ir_target *t, uint32_t primary, bool fma)
{
    struct fuser_device d = {.name = t->name,
                             .max_work_group_size = t->max_work_group_size ? t->max_work_group_size : MAX_WORK_GROUP,
                             .max_local_bytes = LOCAL_BYTES,
                             .fma = fma};
    target_device_set_aspects(&d, t);
    d.can_fuse = true;
    for (uint32_t i = 0; i < t->n_sub_group_sizes && d.n_sub_group_sizes < MAX_SIZES; i++) {
        uint32_t size = t->sub_group_sizes[i];
        d.sub_group_sizes[d.n_sub_group_sizes++] = size;
        if (size <= primary && size > d.primary_sub_group_size) d.primary_sub_group_size = size;
    }
    return d;
}
