/*
 * Statements of random kernels in which work-items take part together. Where one may stand depends on who must come
 * there: the active work-items, a whole sub-group, a whole work-group. What is undefined, such as the value of a
 * work-item that is not there, is computed now and then and never used.
 */
#pragma once

#include "tests/support/random_steps.h"

enum { GROUPS_BLOCK = 16 }; /* elements that a buffer of blocks has for each work-item */

void groups_active(struct steps *k);     /* anywhere */
void groups_sub_group(struct steps *k);  /* where whole sub-groups come */
void groups_work_group(struct steps *k); /* where whole work-groups come */
/* Through local memory: each puts a number there and takes that of another one. */
void groups_exchange(struct steps *k, enum ir_scope scope);
/* A bool, or an i32 from 1 to 4, that is the same for all of the scope, which is there. */
struct ir_value *groups_condition(struct steps *k, enum ir_scope scope);
struct ir_value *groups_rounds(struct steps *k, enum ir_scope scope);
