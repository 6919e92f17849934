/* Aspects as a module has them: its own numbers, and names that we do not know (seed 004, sycl_aspects). */
#pragma once

#include "ir/core/objects.h"

/* Bits of a set: those of ir/core/aspects.h, then the module's own, in the order in which they were asked for. */
enum { IR_ASPECT_BITS = 64 };

/* One more row of the module's numbering. */
void ir_module_number_aspect(struct ir_module *m, const char *name, uint32_t number);
/* All that another module numbers, in its order. */
void ir_module_copy_numbers(struct ir_module *into, const struct ir_module *from);
/* The bit of a name that is known everywhere, or has a number in the module; -1: it is neither, or too many are. */
int ir_module_aspect(struct ir_module *m, const char *name);
/* NULL: no such bit. */
const char *ir_module_aspect_name(const struct ir_module *m, unsigned bit);
/* By the module's numbering, where that has the name, else by ours. */
uint32_t ir_module_aspect_number(const struct ir_module *m, unsigned bit);
/* All bits that mean something in the module. */
uint64_t ir_module_aspects(const struct ir_module *m);
/* The bits in `into` of a set of another module; own names go over with their numbers. */
uint64_t ir_aspects_into(struct ir_module *into, const struct ir_module *from, uint64_t set);
/* The same names. */
bool ir_aspects_equal(const struct ir_module *a, uint64_t x, const struct ir_module *b, uint64_t y);
/* Bits of a set in the order in which sets are written: known ones first, then own ones by their name. Returns how
   many. */
unsigned ir_aspects_in_order(const struct ir_module *m, uint64_t set, uint8_t bits[static IR_ASPECT_BITS]);
