/* What is known while linking: the modules, who defines what, who calls whom. */
#pragma once

#include "ir/base/diag.h"
#include "ir/base/name_map.h"
#include "ir/core/clone.h"
#include "ir/core/ir.h"

/* A function of one of the modules, numbered among those of all. */
struct link_node {
    const struct ir_function *f;
    uint32_t module;
    size_t first_edge, n_edges; /* its calls */
    const struct ir_inst *call; /* a call of it, or NULL */
};

struct link_edge {
    size_t callee; /* node in the caller's module */
    const struct ir_inst *call;
};

/* A definition that other modules can see: a function or a variable. */
struct link_symbol {
    uint32_t module;
    const struct ir_function *f;
    const struct ir_global *g;
    struct ir_function *new_f; /* in the result */
    struct ir_global *new_g;
};

struct linker {
    const struct ir_module *const *modules;
    uint32_t n_modules;
    struct ir_module *into;
    struct ir_copy **copies; /* by module */
    struct arena *arena;     /* for as long as linking takes */
    struct diag_list *list;
    bool failed;
    unsigned type_steps; /* comparisons of types so far */

    struct names functions, variables; /* struct link_symbol by name */

    struct link_node *nodes;
    size_t n_nodes, *first_node; /* by module: the node of its first function */
    struct link_edge *edges;     /* sorted by caller */
    size_t n_edges, edge_capacity;
    const struct ir_inst ***variable_use;      /* by module and variable: an instruction that names it, or NULL */
    const struct ir_global ***variable_holder; /* likewise: a variable that holds an address of it */
};
