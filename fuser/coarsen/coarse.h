/* What is known while a kernel becomes coarser. The given kernel's instructions are called its own. */
#pragma once

#include "fuser/cpu/prepare/uniformity.h"
#include "ir/base/arena.h"
#include "ir/core/ir.h"

enum { COARSE_MOST = 8 };

/* Where an access is: a base, an index and bytes behind that. */
struct coarse_place {
    ir_type type;
    const struct ir_value *base, *root;
    enum ir_op extension; /* of the index; IR_OP_ELEM: none */
    int64_t offset;
};

/* A number that one of the work-items has loaded, which others may need, too. */
struct coarse_loaded {
    struct coarse_place place;
    struct ir_value *value;
};

struct coarse {
    struct arena *arena;
    struct ir_function *kernel;
    unsigned items;
    struct uniformity u;     /* of work-items that follow each other, where they agree */
    struct assumed *assumed; /* by instruction number: conditions that they agree on */
    uint8_t *ahead;          /* by value number: whether it can be computed before all else */
    bool *joined;            /* by instruction number: accesses that become one of a vector, from where
                                the first work-item accesses on, if that is aligned */
    struct ir_value *size, *offset;
    struct ir_value *ids[COARSE_MOST]; /* the global ids of the work-items */
    struct ir_value **to[COARSE_MOST]; /* by value number: what a value is for each work-item */
    struct coarse_loaded *loaded;      /* since the last store */
    uint32_t n_loaded;
};

static inline bool coarse_is_uniform(const struct coarse *c, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF) return true;
    return c->u.values[v->scratch].kind == SHAPE_UNIFORM;
}
