/* Which accesses are proved to be inside of their memory. */
#pragma once

#include "fuser/access/sites.h"
#include "fuser/bounds/places.h"

/* By number of an instruction, for each of its first two operands: what is known of the access through it. */
struct proofs {
    uint8_t (*state)[2]; /* enum of proofs.c */
};

/* From an analysis of the kernel. Numbers its instructions in their scratch. */
void proofs_find(struct proofs *p, struct ir_function *kernel, const struct access_analysis *access,
                 const struct nd_range *range, const struct places *places);
void proofs_clear(struct proofs *p);
bool proofs_has(const struct proofs *p, const struct ir_inst *inst, unsigned operand);
