/* Pointers into a buffer made numbers of bytes from its start. */
#pragma once

#include "fuser/merge/merge_state.h"

/* Called for each load, store, block read and block write through a pointer that is now a number, its operand 0; gives
   it a pointer again, or takes its place. */
typedef bool pointer_offsets_user(struct ir_inst *inst, void *data);
/* Makes each pointer that comes from parameter i a number of bytes from there. False where one is kept, compared
   or mixed with others, or where the user gives up. */
bool pointer_offsets_make(struct fuse *f, struct ir_function *copy, uint32_t i, pointer_offsets_user *user, void *data);
