/* Configured devices. */
#include "daemon/compiler/configured_devices.h"

#include <stdio.h>
#include <string.h>

#include "fuser/ahead/target_device.h"
#include "fuser/features/device_config.h"

/* Those that the cpu has, too; the primary one is the largest up to the cpu's. */
static void set_sizes(struct fuser_device *d, const struct fuser_device *cpu, const struct ir_target *t)
{
    d->n_sub_group_sizes = 0;
    for (uint32_t k = 0; k < cpu->n_sub_group_sizes; k++)
        for (uint32_t i = 0; i < t->n_sub_group_sizes; i++)
            if (t->sub_group_sizes[i] == cpu->sub_group_sizes[k]) {
                d->sub_group_sizes[d->n_sub_group_sizes++] = cpu->sub_group_sizes[k];
                break;
            }
    d->primary_sub_group_size = d->n_sub_group_sizes ? d->sub_group_sizes[0] : 0;
    for (uint32_t i = 0; i < d->n_sub_group_sizes; i++)
        if (d->sub_group_sizes[i] <= cpu->primary_sub_group_size) d->primary_sub_group_size = d->sub_group_sizes[i];
    if (t->max_work_group_size && t->max_work_group_size < cpu->max_work_group_size)
        d->max_work_group_size = t->max_work_group_size;
}

static void make_device(struct device *d, const struct device *cpu, const struct ir_target *t)
{
    *d = *cpu;
    d->description = "Configured for tests; the processor's cores run its code";
    d->properties.name = t->name;
    d->properties.n_targets = 0;
    target_device_set_aspects(&d->properties, t);
    set_sizes(&d->properties, &cpu->properties, t);
}

static bool is_there(const struct device *devices, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(devices[i].properties.name, name) == 0) return true;
    return false;
}

int configured_devices(const char *path, struct device *devices, unsigned n, unsigned most)
{
    static struct device_config config;
    static struct error e;
    if (device_config_open(&config, path, &e) != 0) {
        fprintf(stderr, "fusiond-compiler: FUSIOND_DEVICES: %s: %s\n", e.object, e.reason);
        return -1;
    }
    for (size_t i = 0; i < config.targets.n && n < most; i++)
        if (!is_there(devices, n, config.targets.items[i].name))
            make_device(&devices[n++], &devices[0], &config.targets.items[i]);
    return (int)n;
}

/* FNV-1a, a word at a time. */
static void add(uint64_t *hash, uint64_t word)
{
    *hash = (*hash ^ word) * 1099511628211u;
}

uint64_t configured_devices_hash(const struct device *devices, unsigned n)
{
    uint64_t hash = 14695981039346656037u;
    for (unsigned i = 0; i < n; i++) {
        const struct fuser_device *d = &devices[i].properties;
        for (const char *c = d->name; *c; c++) add(&hash, (uint8_t)*c);
        add(&hash, d->max_work_group_size);
        for (uint32_t k = 0; k < d->n_sub_group_sizes; k++) add(&hash, d->sub_group_sizes[k]);
        for (uint32_t k = 0; k < d->n_aspect_numbers; k++) add(&hash, d->aspect_numbers[k]);
    }
    return hash;
}
