/*
 * A function's body as it is translated. The folders: values/ (what ids stand for), instructions/ (one family a file),
 * opencl_std/ (functions of the library), and above them what puts a body together.
 */
#pragma once

#include "ir/core/ir.h"
#include "ir/spirv/cfg/graph.h"
#include "ir/spirv/decode/reader.h"

/* What an id stands for in the function that defined or used it last. */
struct spirv_binding {
    const struct spirv_function *owner; /* NULL: none yet */
    union {
        struct ir_value *one;   /* of one leaf */
        struct ir_value **many; /* of several leaves */
    } of;
};

struct spirv_body {
    struct spirv_reader *r;
    struct spirv_function *f;
    struct ir_function *ir;
    struct ir_builder b;      /* where instructions go */
    struct ir_inst *prologue; /* the last of those that stand at the body's beginning; NULL: none yet */
    struct names names;
    struct cfg cfg;
    struct spirv_binding *bindings; /* by id; the same table for all functions */
    /* Translates an instruction: what a constant that is computed stands for. */
    void (*emit)(struct spirv_body *s, const struct spirv_inst *i);
};
