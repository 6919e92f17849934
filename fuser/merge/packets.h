/* Packets of pipes that become values. */
#pragma once

#include "fuser/merge/merge_state.h"

/* A private variable of the kernel; its address. */
struct ir_value *packets_variable(const struct fuse *f, ir_type type);
/* A packet of the type from one place to another. */
void packets_copy(struct ir_builder *b, ir_type type, struct ir_value *to, struct ir_value *from);

/* The part is the last one in the kernel so far. Of pipes to which the request gives registers: each packet that it
   puts goes to a variable, and each one that it takes comes from there. */
bool packets_to_registers(struct fuse *f, uint32_t part);
