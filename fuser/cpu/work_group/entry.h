/* The entry function of a kernel: over a range of work-groups, as fuser/cpu/abi/kernel_abi.h says. */
#pragma once

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/jit/emit.h"

/* Emits the function e->name, and says what the record about it has: the entry, if it has its name, or a part of it.
   loops: the work is in them, not in memory. False: it is more than e->jit.most_statements; nothing needs to be undone,
   for all lies in the context and the arena. */
bool entry_emit(struct emit *e, bool loops, struct kernel_object_info *info);

/* Emits the entry e->name of two parts: one for the last work-group in x, of a launch over a line, and one for all
   others. e has a context and a name, and nothing else. */
void entry_emit_sides(struct emit *e, gcc_jit_function *others, gcc_jit_function *last);
/* What the record about it has, of what those of its parts would have. */
struct kernel_object_info entry_info_of_sides(const struct kernel_object_info *a, const struct kernel_object_info *b);

/* The record. */
void entry_emit_info(struct emit *e, const struct kernel_object_info *info);
