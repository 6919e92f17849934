/* Vectors and structs of neighbours in memory, one after the other: moved by whole registers and shuffled. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* n numbers of each work-item, those of the next one `stride` bytes further on. */
struct interleaved {
    enum ir_kind kind; /* as stored */
    unsigned n;
    rval address; /* of the first number of lane 0 */
    uint64_t stride;
    unsigned align;  /* of a number */
    unsigned before; /* words in front of it that are there, too */
    bool is_frame;   /* it begins where those of other accesses do that have the same stride */
    bool is_own;     /* no other thread sees it */
};

/* Whether that can be done where all lanes run, and pays. A load also reads what lies between the numbers of one
   work-item and those of the next, as behind a float3, but nothing after the last number. */
bool interleaved_can_load(const struct emit *e, const struct interleaved *a);
bool interleaved_can_store(const struct emit *e, const struct interleaved *a);
/* In memory that nobody else sees: the words from one number to the next, where lanes have a number each. */
unsigned interleaved_most_own(const struct emit *e, unsigned bytes);
void interleaved_load(struct emit *e, const struct interleaved *a, struct lanes *result);
void interleaved_store(struct emit *e, const struct interleaved *a, const struct lanes *v);
/* Of numbers of a kind that share words: number i in one, and the word that has some from v on. */
struct lanes interleaved_number(struct emit *e, enum ir_kind kind, struct lanes word, unsigned i);
struct lanes interleaved_word(struct emit *e, enum ir_kind kind, const struct lanes *v);
/* Pairs of numbers of 4 bytes, as numbers of 8: the two of each, and the other way round. */
void interleaved_split(struct emit *e, enum ir_kind kind, const struct lanes *pairs, struct lanes number[2]);
struct lanes interleaved_join(struct emit *e, const struct lanes number[2]);
