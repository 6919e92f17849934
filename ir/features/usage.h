/*
 * Which optional features (aspects) functions of a module use: from the types they name, whether they do anything with
 * them or not, from operations, from what is written at types and functions (`uses`), and from what they call. It looks
 * at modules as they were read: passes drop uses.
 */
#pragma once

#include "ir/core/ir.h"
#include "ir/verify/limits.h"

/* Finds what is asked for, once. Valid as long as the module is not changed. */
struct ir_usage;
struct ir_usage *ir_usage_new(const struct ir_module *m);
void ir_usage_free(struct ir_usage *u); /* NULL is fine */
const struct ir_module *ir_usage_module(const struct ir_usage *u);

/* What the name of the type uses, with all that it consists of. */
uint64_t ir_usage_of_type(struct ir_usage *u, ir_type t);
/* What the function uses itself: without what it calls. */
uint64_t ir_usage_own(struct ir_usage *u, const struct ir_function *f);
/* What it uses with all that it calls. Of a called function, what it declares counts as used. */
uint64_t ir_usage_all(struct ir_usage *u, const struct ir_function *f);

/* How a function comes to use an aspect: the calls that lead there, and the place. */
struct ir_usage_chain {
    uint32_t n_calls;
    const struct ir_inst *calls[IR_MAX_CALL_DEPTH];
    struct ir_loc loc; /* of the use, in the last function; line 0: not known */
};
/* The shortest one, the first of several; the bit is one of ir_usage_all(f). */
void ir_usage_find(struct ir_usage *u, const struct ir_function *f, unsigned bit, struct ir_usage_chain *chain);

/* Writes into its attribute what a function uses that passes may drop: what it names. */
void ir_usage_keep(struct ir_function *f);
/* ir_usage_all() of one function. */
uint64_t ir_function_aspects(const struct ir_function *f);
