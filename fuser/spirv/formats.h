/* What is known of the memory that a kernel prints from, and formats that are chosen when it runs. */
#pragma once

#include "ir/core/ir.h"

/* What an address is a number of bytes into; NULL where that is not known. */
const struct ir_inst *spirv_place_of(const struct ir_value *p, uint64_t *offset);
/* The string that lies there; NULL: it is not known. */
const char *spirv_known_string(const struct ir_value *p);

/* Where a printf's format is chosen from known ones by selections, ifs and loops, and there are not too many of them, a
   printf of each stands in its place, under its condition; made() is told of each. False: it is left as it is. */
bool spirv_split_formats(struct ir_inst *print, void (*made)(struct ir_inst *print, void *data), void *data);
