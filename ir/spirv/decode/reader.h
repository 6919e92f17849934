/*
 * A module as it is decoded: tables by id, each filled by one unit of this folder and only asked after. The module
 * comes in as words that the validator has seen; out go its instructions by id, and types, constants and variables as
 * ir. Functions are listed here; translate/ reads their bodies. Uses ir/spirv/base, and nothing of how words were
 * rewritten.
 */
#pragma once

#include <spirv/unified1/spirv.h>

#include "ir/base/arena.h"
#include "ir/base/name_map.h"
#include "ir/core/ir.h"
#include "ir/spirv/base/budget.h"
#include "ir/spirv/base/findings.h"
#include "ir/spirv/base/pipes.h"
#include "ir/spirv/decode/options.h"

struct spirv_function;

/* One instruction of the module. */
struct spirv_inst {
    uint16_t op, n;      /* opcode, words */
    uint32_t type, id;   /* ids of the result and of its type; 0: none */
    uint32_t file, line; /* id of the file's name; 0: unknown */
    uint32_t column;
    const uint32_t *words; /* the first has opcode and length */
};

struct spirv_decoration {
    uint32_t next;         /* of the same target, index + 1; 0: none */
    uint32_t member;       /* of a struct; UINT32_MAX: the target itself */
    uint32_t group;        /* id of a group whose decorations all apply; 0: this is a decoration itself */
    const uint32_t *words; /* from the decoration's number on */
    uint32_t n;
};

/* What is said of an id. */
struct spirv_id {
    const struct spirv_inst *def;
    const char *name;     /* OpName; NULL: none */
    uint32_t decorations; /* the last of its list, index + 1 */
};

/* index.c: the instructions by place and by id. */
struct spirv_index {
    struct spirv_inst *insts;
    size_t n_insts;
    struct spirv_id *ids;
    uint32_t bound; /* of ids */
    struct spirv_decoration *decorations;
    size_t n_decorations;
    const struct spirv_inst **modes, **entries, **capabilities, **strings;
    size_t n_modes, n_entries, n_capabilities, n_strings;
    uint32_t opencl_std; /* id of the imported set; 0: none */
};

/* A type as ir has it. */
struct spirv_type {
    uint32_t leaves; /* values that one of the type consists of; UINT32_MAX: too many to count */
    ir_type ir;
    uint8_t depth; /* of structs and arrays inside each other */
    bool known;    /* has a counterpart in ir */
};

/* specialize.c */
struct spirv_specialization {
    const struct ir_spirv_options *options;
    bool *used; /* by the options' constants: the module has it */
};

/* A variable of the module that cannot be read, which refuses the functions that use it. */
struct spirv_refusal {
    uint32_t id;
    const char *why;
};

/* globals.c: variables of the module. */
struct spirv_globals {
    struct ir_global **by_id; /* NULL: was not made */
    struct spirv_refusal *refusals;
    size_t n_refusals;
    struct names names;
};

struct spirv_function {
    const struct spirv_inst *first, *end; /* OpFunction to OpFunctionEnd */
    uint32_t id;
    uint32_t calls;                 /* of it, in the module */
    const struct spirv_inst *entry; /* OpEntryPoint that names it, or what wraps it; NULL: none */
    bool has_body;
    struct spirv_function *wraps; /* it does nothing but call this one with its own parameters */
    struct spirv_function *wrapped_by;
    const char *name;       /* in the module; NULL: none yet */
    const char *refused;    /* why it cannot be read: the first reason, with its place; NULL: it can, so far */
    bool no_signature;      /* refused for its parameters or its result */
    struct ir_function *ir; /* NULL: of what wraps another */
};

/* functions.c */
struct spirv_functions {
    struct spirv_function *items; /* in the module's order */
    size_t n;
    bool contract; /* no kernel forbids contraction */
    struct names names;
};

/* fail.c: what is being read, which a finding refuses. */
struct spirv_subject {
    struct spirv_function *function;
    const struct spirv_inst *variable;
    bool failed; /* since reading it began */
};

struct spirv_reader {
    struct arena *arena;      /* for the reading only */
    struct ir_module *module; /* being made */
    size_t n_bytes;           /* of the module that is read */
    struct spirv_findings *findings;
    struct spirv_budget *budget;
    struct spirv_subject subject;
    struct spirv_index index;
    struct spirv_specialization specialization;
    struct spirv_type *types;    /* types.c, by id */
    struct names structs;        /* names of those of the module */
    struct ir_value **constants; /* constants.c, by id: numbers, vectors and null; NULL: has another form or none */
    struct spirv_pipes pipes;    /* the words' */
    struct spirv_globals globals;
    struct spirv_functions functions;
};
