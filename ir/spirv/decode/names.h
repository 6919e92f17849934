/* Names in the module that is made. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* A word people can write, made from any name: of the module's arena, unique in the map. */
const char *spirv_unique_name(struct spirv_reader *r, struct names *map, const char *wish, const char *otherwise);
