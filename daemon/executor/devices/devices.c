/* The table of devices. */
#include "daemon/executor/devices/devices.h"

#include <stdio.h>
#include <string.h>

#include "daemon/executor/devices/cpu/cpu.h"
#include "daemon/executor/devices/gpu/kept.h"
#include "daemon/executor/devices/level_zero/driver.h"
#include "daemon/executor/devices/level_zero/launch.h"
#include "daemon/executor/devices/level_zero/level_zero.h"
#include "daemon/executor/devices/reference/reference.h"
#include "daemon/executor/devices/vulkan/driver.h"
#include "daemon/executor/devices/vulkan/pipeline.h"
#include "daemon/executor/devices/vulkan/vulkan.h"
#include "proto/include/fusiond/status.h"

static const struct device *devices[2 + DEVICES_MAX_GPUS];
static unsigned n_devices;

void devices_init(unsigned threads)
{
    cpu_device_init(threads);
    devices[n_devices++] = &cpu_device;
    devices[n_devices++] = &reference_device;
}

int devices_start(void)
{
    return devices_find("cpu") ? cpu_device_start() : 0;
}

void devices_explain(struct running *r, char *out, size_t room)
{
    cpu_device_explain(r, out, room);
}

static const struct {
    const struct device *device;
    const struct gpu_description *(*init)(const struct gpu_description *known, bool *tested, struct error *e);
    int (*open)(struct error *e); /* the driver alone */
    gpu_binary_maker *make_binary;
} drivers[] = {{&vulkan_device, vulkan_device_init, vulkan_open, vulkan_make_binary},
               {&level_zero_device, level_zero_device_init, level_zero_open, level_zero_make_binary}};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

static const struct gpu_description *find_known(const struct gpu_description *known, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(known[i].device, name) == 0) return &known[i];
    return NULL;
}

unsigned devices_init_gpus(const struct gpu_description *known, unsigned n, struct devices_gpu gpus[DEVICES_MAX_GPUS])
{
    unsigned looked_for = 0;
    for (unsigned i = 0; i < DRIVERS; i++) {
        struct error e = {0};
        const char *name = drivers[i].device->name;
        const struct gpu_description *of_it = find_known(known, n, name);
        if (known && !of_it) continue;
        struct devices_gpu *gpu = &gpus[looked_for++];
        *gpu = (struct devices_gpu){.name = name};
        gpu->description = drivers[i].init(of_it, &gpu->tested, &e);
        if (gpu->description)
            devices[n_devices++] = drivers[i].device;
        else
            snprintf(gpu->absent, sizeof gpu->absent, "%.250s", e.reason);
    }
    return looked_for;
}

static unsigned find_driver(const char *name)
{
    unsigned i = 0;
    while (i < DRIVERS && strcmp(drivers[i].device->name, name) != 0) i++;
    return i;
}

int devices_open_gpu(const char *name, struct error *e)
{
    unsigned i = find_driver(name);
    return i < DRIVERS ? drivers[i].open(e) : error_set(e, FUSION_NOT_FOUND, name, "is no device with a driver");
}

uint8_t *devices_make_binary(const char *name, int fd, const void *key, size_t key_size, size_t *size, struct error *e)
{
    return gpu_binary_make(drivers[find_driver(name)].make_binary, fd, key, key_size, size, e);
}

const struct device *devices_find(const char *name)
{
    for (unsigned i = 0; i < n_devices; i++)
        if (strcmp(devices[i]->name, name) == 0) return devices[i];
    return NULL;
}
