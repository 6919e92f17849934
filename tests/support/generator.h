/* What the generators of random modules and of random kernels share: types, constants, and the values
   that can be used where the next instruction goes. */
#pragma once

#include "ir/core/ir.h"
#include "tests/support/rng.h"

struct generator {
    struct rng rng;
    struct ir_module *m;
    struct ir_builder b; /* where the next instruction goes */
    struct ir_value **visible;
    size_t n_visible, capacity;
    bool executable; /* every value has known bits: no undef, floats of moderate size */
};

void gen_close(struct generator *g);                           /* what it holds besides the module */
ir_type gen_scalar(struct generator *g);                       /* i8 to f64 */
ir_type gen_int(struct generator *g);                          /* i8 to i64 */
ir_type gen_float(struct generator *g);                        /* f16 to f64 */
unsigned gen_lanes(struct generator *g);                       /* mostly 1 */
ir_type gen_vector_of(struct generator *g, ir_type element);   /* 2 lanes or more */
struct ir_value *gen_constant(struct generator *g, ir_type t); /* of numbers and vectors */
/* Makes a value one that can be used; NULL is let be. Returns it. */
struct ir_value *gen_define(struct generator *g, struct ir_value *v);
/* A value of the type that can be used, or NULL. */
struct ir_value *gen_find(struct generator *g, ir_type t);
/* The same for any type that fits; data is for fits. */
struct ir_value *gen_find_if(struct generator *g, bool (*fits)(ir_type t, const void *data), const void *data);
/* The one of them that was defined last. */
struct ir_value *gen_find_newest(struct generator *g, bool (*fits)(ir_type t, const void *data), const void *data);
