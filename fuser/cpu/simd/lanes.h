/*
 * Values over the lanes. An IR vector is an array of `struct lanes`, one per component: a float4 of 16 work-items is
 * four times sixteen floats. A varying component lies in chunks, each one register wide at most.
 */
#pragma once

#include "fuser/cpu/jit/emit.h"
#include "fuser/cpu/prepare/uniformity.h"

struct lane_origin;

/* One component of an IR value over the lanes. Pointers are 64-bit addresses. */
struct lanes {
    enum ir_kind kind;
    enum shape_kind shape;
    rval scalar;                      /* uniform: the value; linear: that of lane 0 */
    int64_t stride;                   /* linear: the difference between neighbours */
    bool wraps;                       /* linear: as in struct shape */
    const struct lane_origin *origin; /* how to compute it for each lane: of what wraps, and of what varies but is not
                                         computed yet */
    lval variable;                    /* where the scalar is a variable to be assigned to */
    const struct near_lanes *near;    /* of a varying address: the same in 32 bits; NULL: there is none */
    lval *chunk;                      /* varying: the vectors; of a bool masks. NULL where it has an origin */
    lval is_nan;                      /* uniform: a mask of all lanes or none; NULL: it is not known */
};

/* Addresses in small memory as offsets from a place in it, right where lanes access it. */
struct near_lanes {
    rval base;
    struct lanes offset;
    bool of_ids; /* neighbours are likely to be near each other: their offsets differ by what is made of ids alone */
};

struct lane_origin {
    struct lanes (*compute)(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args);
    enum ir_op op;
    enum ir_kind kind;
    unsigned n;
    struct lanes args[3];
    bool is_field;   /* narrowed: of args[1], whose bits from `first` on are the low ones of args[0] */
    unsigned first;  /* 0, 8, 16 or 24 */
    enum ir_op fits; /* narrowed: the extension that gives args[0] again; 0: none does */
};

struct lanes lanes_uniform(enum ir_kind kind, rval v);
struct lanes lanes_linear(enum ir_kind kind, rval first, int64_t stride);
struct lanes lanes_varying(struct emit *e, enum ir_kind kind); /* with chunks to be filled in */
struct lanes lanes_int(struct emit *e, enum ir_kind kind, uint64_t bits);
struct lanes lanes_made(struct emit *e, struct lanes v);              /* computed now, where it was to be later */
lval *lanes_vectors(struct emit *e, const struct lanes *v);           /* the chunks of a value of any shape */
rval lanes_get(struct emit *e, const struct lanes *v, unsigned lane); /* one lane's scalar */
rval lanes_at(struct emit *e, const struct lanes *v, rval lane);      /* the same, of a value that does not vary */
struct lanes lanes_build(struct emit *e, enum ir_kind kind, rval *scalars);         /* of one scalar per lane */
struct lanes lanes_variable(struct emit *e, enum ir_kind kind, struct shape shape); /* uninitialized */
void lanes_assign(struct emit *e, struct lanes *variable, const struct lanes *v);
