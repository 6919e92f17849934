/* What the files of the verifier share: where it stands, and how it reports. */
#pragma once

#include "ir/verify/verify.h"

/* Size and alignment of a struct or an array, found without trusting that it is not recursive. */
struct verify_layout {
    enum { LAYOUT_UNKNOWN, LAYOUT_IN_PROGRESS, LAYOUT_GOOD, LAYOUT_BAD } state;
    uint32_t depth, align;
    uint64_t size;
};

struct verifier {
    const struct ir_module *m;
    struct diag_list *list;
    size_t n_findings;
    bool broken; /* links or numbers that make it unsafe to walk the module by other means */

    /* Where findings are reported. */
    const struct ir_function *f;
    const struct ir_block *block;
    const struct ir_inst *inst;

    struct verify_layout *structs, *arrays; /* by index */
    unsigned type_depth;

    /* Values that can be used where the walk stands. A value is one of them when its scratch is its
       place here, which holds whatever its scratch was before. */
    struct ir_value **visible;
    size_t n_visible, visible_capacity;
    const char **named; /* names of the function's values */
    size_t n_named, named_capacity;

    char texts[4][96]; /* of types, used in turn */
    unsigned next_text;
};

/* Adds a finding at the place where the verifier stands. */
void verify_report(struct verifier *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A type as text; good until three more were asked for. */
const char *verify_type_text(struct verifier *v, ir_type t);
/* A name people can write: a letter or _, then letters, digits, _ . $ */
bool verify_name_ok(const char *name);
/* Reports each name that occurs twice. NULL entries are left out; the order of names changes. */
void verify_unique(struct verifier *v, const char **names, size_t n, const char *what);

/* ---- types.c ---- */

/* The number is a type of the module. */
bool verify_type_ok(const struct verifier *v, ir_type t);
/* The type can lie in memory, and its size is known. */
bool verify_type_memory(const struct verifier *v, ir_type t);
void verify_types(struct verifier *v);
void verify_globals(struct verifier *v);
/* Only the structs and arrays of m: what must hold before ir_type_size() may be called. */
bool ir_verify_types(const struct ir_module *m, struct diag_list *list);

/* ---- address.c ---- */

/* Addresses in the initial value of a variable: where they lie, and what they point at. */
void verify_addresses(struct verifier *v, const struct ir_global *g);

/* ---- function.c ---- */

void verify_function(struct verifier *v, const struct ir_function *f);

/* ---- inst.c: one instruction against its row of ops.def ---- */

void verify_inst(struct verifier *v, const struct ir_inst *inst);

/* ---- ops.c: what the row cannot say ---- */

void verify_op(struct verifier *v, const struct ir_inst *inst);

/* ---- calls.c ---- */

/* No recursion, and not too deep. False where the module must not be walked along its calls. */
bool verify_calls(struct verifier *v);
void verify_aspects(struct verifier *v);
