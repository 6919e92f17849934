/* All passes that need nothing but the function. They are run through pass_manager.h only, which verifies what they
   leave. One file per pass; tests/passes has before and after of each. */
#pragma once

#include "fuser/passes/pass.h"

extern const struct pass pass_inline;        /* calls of functions with a body */
extern const struct pass pass_byval_copy;    /* a kernel's by-value parameters that it writes become copies */
extern const struct pass pass_lower_returns; /* early returns become plain control flow */
extern const struct pass pass_fold;          /* constants and identities that are exact */
extern const struct pass pass_cse;           /* equal pure operations, by dominance */
extern const struct pass pass_mem2reg;       /* private variables that never escape become SSA values */
extern const struct pass pass_forward;       /* a load after a store to the same address takes the stored value;
                                                distinct pointer parameters of a kernel do not alias */
extern const struct pass pass_merge_ifs;     /* ifs of one condition that follow each other */
extern const struct pass pass_merge_loops;   /* equal loops that follow each other, one storing what the other loads */
extern const struct pass pass_one_loop;      /* two loops with a barrier that compilers made of one */
extern const struct pass pass_one_way;       /* how loops with a barrier go on, told by ifs that follow each other */
extern const struct pass pass_sink_stores;   /* of stores to a place of which an if chooses, one stays behind it */
extern const struct pass pass_store_motion;  /* places that each round of a loop stores to become values of it */
extern const struct pass pass_dse;           /* stores that a later store of the same place hides */
extern const struct pass pass_dce;           /* results nobody uses, stores nobody reads, empty ifs */
extern const struct pass pass_sroa;          /* private arrays at constant places become variables */
extern const struct pass pass_unroll;        /* loops of few rounds that index private arrays */
extern const struct pass pass_unroll_accesses; /* loops of few rounds that access memory, to know where */
extern const struct pass pass_unroll_steps;    /* loops of few rounds in which work-groups go up or down trees */
extern const struct pass pass_unroll_rows;     /* loops of few rounds in which work-groups go over rows */
extern const struct pass pass_licm;            /* loop-invariant pure operations go before the loop */
extern const struct pass pass_loop_ends;       /* loops that test at their end go on there */
extern const struct pass pass_byte_sums;       /* loops that add bytes, as sums of 16 bits where these are enough */
extern const struct pass pass_combine;         /* accesses of neighbouring numbers become one of a vector */
extern const struct pass pass_global_ids;      /* ids of work-groups and in them that make up a global one */
extern const struct pass pass_overlaps;        /* tests whether the memory of two parameters overlaps: it never does */
extern const struct pass pass_ranges;          /* conversions and comparisons of integers in known bounds */
extern const struct pass pass_contract; /* products and sums that may be contracted become fma: changes results */

/* The pass of that name, or NULL. */
const struct pass *pass_by_name(const char *name);
/* All of them, ended by NULL. */
const struct pass *const *pass_all(void);
