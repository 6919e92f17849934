/*
 * The devices that programs name (program/device.h): each is a folder, with one table of functions. They use the rooms
 * program and run; nobody but the executor's main knows of them.
 */
#pragma once

#include "daemon/executor/program/device.h"

/* Once, before any program is loaded. threads: that a launch may run on. */
void devices_init(unsigned threads);
const struct device *devices_find(const char *name); /* NULL: there is none */
