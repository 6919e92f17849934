/* The device configuration that comes with fusiond, and the devices that are here. */
#include "daemon/compiler/known_targets.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/devices.h"
#include "fuser/features/device_config.h"
#include "ir/base/arena.h"
#include "ir/core/aspects.h"

static void add_device(struct arena *a, struct ir_target *t, const struct fuser_device *d)
{
    uint32_t *numbers = arena_alloc(a, (IR_ASPECT_COUNT + d->n_aspect_numbers) * sizeof *numbers);
    uint32_t *sizes = arena_alloc(a, d->n_sub_group_sizes * sizeof *sizes + 1);
    *t = (struct ir_target){.name = d->name,
                            .aspects = numbers,
                            .sub_group_sizes = sizes,
                            .n_sub_group_sizes = d->n_sub_group_sizes,
                            .max_work_group_size = d->max_work_group_size};
    for (unsigned bit = 0; bit < IR_ASPECT_COUNT; bit++)
        if (d->aspects >> bit & 1) numbers[t->n_aspects++] = ir_aspect_number(bit);
    for (uint32_t i = 0; i < d->n_aspect_numbers; i++) numbers[t->n_aspects++] = d->aspect_numbers[i];
    memcpy(sizes, d->sub_group_sizes, d->n_sub_group_sizes * sizeof *sizes);
}

const struct ir_targets *known_targets(void)
{
    static struct device_config config;
    static struct ir_targets all;
    if (all.n || device_config_open(&config, NULL, NULL) != 0) return &all;
    struct ir_target *items = arena_alloc(config.arena, (config.targets.n + devices_count()) * sizeof *items);
    for (unsigned i = 0; i < devices_count(); i++)
        add_device(config.arena, &items[all.n++], &devices_get(i)->properties);
    memcpy(items + all.n, config.targets.items, config.targets.n * sizeof *items);
    all.n += config.targets.n;
    all.items = items;
    return &all;
}
