/* Registers of numbers of 4 or 8 bytes: of two every other number picked out of both, and put together one by one; of
   an odd number of them every n-th one. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* a and b one after the other: the numbers at even places, or those at odd ones. */
lval x86_every_other(struct emit *e, enum ir_kind kind, lval a, lval b, bool odd);
/* AVX-512: each number of v as often as a number has words, one after the other: register i of these. Where a mask is
   not set, what was before; mask NULL: no such place. */
lval x86_spread(struct emit *e, enum ir_kind kind, lval v, unsigned words, unsigned i, lval mask, lval before);
/* Of each word of 4 bytes n bytes from number `first` on, and zeros above. */
bool x86_can_pick_bytes(const struct emit *e);
lval x86_pick_bytes(struct emit *e, lval words, unsigned first, unsigned n);
/* Bytes of words within each 16: the result's bytes are numbers of such bytes, or 0x80 for a zero. */
#define X86_ZEROS 0x80808080u
lval x86_shuffle_bytes(struct emit *e, lval words, const uint32_t *from);
/* a0 b0 a1 b1 ... : to[0] has the first half, to[1] the second one. */
void x86_zip(struct emit *e, enum ir_kind kind, lval a, lval b, lval to[2]);

enum { X86_MOST_ODD = 7 }; /* registers: each number that is picked is blended out of all of them */

/* n registers, an odd number, with n numbers of each work-item one after the other. */
struct x86_odd {
    enum ir_kind kind;
    unsigned n;
    lval mask[X86_MOST_ODD]; /* AVX-512: of the first register, where number w of somebody is */
};
void x86_odd_begin(struct emit *e, enum ir_kind kind, unsigned n, struct x86_odd *odd);
/* Number w of each work-item. */
lval x86_odd_pick(struct emit *e, const struct x86_odd *odd, const lval *v, unsigned w);
/* The other way round: word[w] has the number w of each, where set has bit w. At the places of others is anything. */
void x86_odd_join(struct emit *e, const struct x86_odd *odd, const lval *word, unsigned set, lval *to);
/* Number i of the result is number from[i] of v. */
lval x86_permute(struct emit *e, enum ir_kind kind, lval v, const unsigned *from);
