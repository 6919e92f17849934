/* The table of devices. */
#include "daemon/executor/devices/devices.h"

#include <stdio.h>
#include <string.h>

#include "daemon/executor/devices/cpu/cpu.h"
#include "daemon/executor/devices/level_zero/level_zero.h"
#include "daemon/executor/devices/reference/reference.h"
#include "daemon/executor/devices/vulkan/vulkan.h"

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

static const struct {
    const struct device *device;
    const struct gpu_description *(*init)(struct error *e);
} drivers[] = {{&vulkan_device, vulkan_device_init}, {&level_zero_device, level_zero_device_init}};

unsigned devices_init_gpus(struct devices_gpu gpus[DEVICES_MAX_GPUS])
{
    unsigned n = sizeof drivers / sizeof *drivers;
    for (unsigned i = 0; i < n; i++) {
        struct error e = {0};
        gpus[i] = (struct devices_gpu){.name = drivers[i].device->name, .description = drivers[i].init(&e)};
        if (gpus[i].description)
            devices[n_devices++] = drivers[i].device;
        else
            snprintf(gpus[i].absent, sizeof gpus[i].absent, "%.250s", e.reason);
    }
    return n;
}

const struct device *devices_find(const char *name)
{
    for (unsigned i = 0; i < n_devices; i++)
        if (strcmp(devices[i]->name, name) == 0) return devices[i];
    return NULL;
}
