/* The table of devices. */
#include "daemon/executor/devices/devices.h"

#include <string.h>

#include "daemon/executor/devices/cpu/cpu.h"
#include "daemon/executor/devices/reference/reference.h"

static const struct device *const devices[] = {&cpu_device, &reference_device};

void devices_init(unsigned threads)
{
    cpu_device_init(threads);
}

const struct device *devices_find(const char *name)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strcmp(devices[i]->name, name) == 0) return devices[i];
    return NULL;
}
