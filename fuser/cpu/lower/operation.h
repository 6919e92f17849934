/*
 * Any pure operation on one component: taken apart, or once on scalars, or on vectors, or lane by lane. This room knows
 * lanes and operations; of the kernel's instructions and control flow it knows nothing.
 */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* kind is that of the result's element. */
struct lanes op_n(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *operands);
struct lanes op1(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes a);
struct lanes op2(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes a, struct lanes b);
struct lanes op3(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes a, struct lanes b, struct lanes c);
/* Lane by lane in a loop; not of bools. */
struct lanes op_in_loop(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args);
struct lanes op_select(struct emit *e, struct lanes condition, struct lanes a, struct lanes b);
struct lanes op_number(struct emit *e, enum ir_kind kind, double v);
struct lanes op_bits(struct emit *e, struct lanes v, enum ir_kind kind); /* the same bits as a kind of the same size */
/* Of arguments none of which varies, where the result is known to have that stride. */
struct lanes op_linear(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
                       int64_t stride);
/* The low bits of a value that is never assigned to: who extends them starts from the whole. */
struct lanes op_narrowed(struct emit *e, enum ir_kind kind, struct lanes whole);
/* The same of a value that has no more bits than these: an extension gives it again. */
struct lanes op_fitting(struct emit *e, enum ir_op extension, enum ir_kind kind, struct lanes whole);
/* The same of words of 4 bytes: their bits from number `first` on, 0 and so many as the kind has and so on. */
struct lanes op_field(struct emit *e, enum ir_kind kind, struct lanes word, unsigned first);
/* What varies and is computed where it is needed, perhaps nowhere. */
struct lanes op_later(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args);
/* variable = v; where a mask is given, in its lanes only. */
void op_assign_where(struct emit *e, struct lanes *variable, const struct lanes *v, const struct mask *mask);
