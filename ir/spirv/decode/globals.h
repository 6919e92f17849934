/* Variables of the module. */
#pragma once

#include "ir/spirv/decode/reader.h"

void spirv_read_globals(struct spirv_reader *r);
/* Why a variable of the module cannot be used, or NULL. */
const char *spirv_why_refused(const struct spirv_reader *r, uint32_t id);
/* The number of a built-in variable, or -1. */
int spirv_builtin(const struct spirv_reader *r, uint32_t id);
