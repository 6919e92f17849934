/* Devices of a configuration file, for tests: the cpu with other aspects, sizes and limits. */
#pragma once

#include "daemon/compiler/device.h"

/* Adds them to a list of n devices, the first of which is the cpu; names that are there already are left out. The new
   number, at most `most`; -1: the file cannot be read, it was said why. It lives as long as the process. */
int configured_devices(const char *path, struct device *devices, unsigned n, unsigned most);
/* Of all that was configured. */
uint64_t configured_devices_hash(const struct device *devices, unsigned n);
