/* Where the verifier stands, and what it has found out so far. */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"

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
