/* Files of the tools for device images. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ir/core/ir.h"

/* A module from a file of text, msgpack, SPIR-V or OpenCL C (.cl); NULL: it was said on standard error why not. */
struct ir_module *module_read(const char *path);
/* False: it was said why not. */
bool file_write(const char *path, const void *bytes, size_t size);
