/* Clean-up passes over one function. Each returns whether it changed anything; the verifier runs after
   every pass in debug builds (through passes_run). One file per pass. */
#pragma once

#include "ir/core/ir.h"

bool pass_inline(struct ir_function *f);    /* calls of functions with a body */
bool pass_own(struct ir_function *f);       /* a kernel's by-value parameters that it writes become copies */
bool pass_fold(struct ir_function *f);      /* constants and identities that are exact */
bool pass_cse(struct ir_function *f);       /* equal pure operations, by dominance */
bool pass_promote(struct ir_function *f);   /* private variables that never escape become SSA values */
bool pass_forward(struct ir_function *f);   /* a load after a store to the same address takes the stored value;
                                               distinct pointer parameters of a kernel do not alias */
bool pass_merge(struct ir_function *f);     /* ifs of one condition that follow each other */
bool pass_overwrite(struct ir_function *f); /* stores that a later store of the same place hides */
bool pass_dce(struct ir_function *f);       /* results nobody uses, stores nobody reads, empty ifs */
bool pass_split(struct ir_function *f);     /* private arrays at constant places become variables */
bool pass_unroll(struct ir_function *f);    /* loops of few rounds that index private arrays */
bool pass_hoist(struct ir_function *f);     /* loop-invariant pure operations go before the loop */

/* Not in the sequence: loops of few rounds that access memory, for those who want to know where. */
bool pass_unroll_accesses(struct ir_function *f);

/* Not in the sequence, since it changes results: products and sums that may be contracted become fma. */
bool pass_contract(struct ir_function *f);
/* The same for a kernel as it came, cleaned up only as far as its own operations say: what its pointers get is not yet
   known. contract_possible: whether there may be anything to do. */
bool contract_possible(const struct ir_function *kernel);
void contract_kernel(struct ir_function *kernel);

/* The standard sequence until nothing changes (bounded). */
void passes_run(struct ir_function *f);
