/* What the files of the linker share: the modules, who defines what, and how findings are told. */
#pragma once

#include "ir/core/clone.h"
#include "ir/link/link.h"
#include "ir/base/name_map.h"

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

/* ---- link.c ---- */

/* A finding at a place of a module; f may be NULL. */
void link_fail(struct linker *l, const struct ir_function *f, struct ir_loc loc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "module a.spv (a.cl:12)", as long as linking takes. */
const char *link_place(struct linker *l, uint32_t module, struct ir_loc loc);
/* The same without the module: "a.cl:12", "line 12"; "an unknown line" where there is none. */
const char *link_line(struct linker *l, uint32_t module, struct ir_loc loc);

/* ---- symbols.c: who defines what ---- */

/* Finds the definitions. Reports two of the same name. */
void link_symbols(struct linker *l);
/* What an import, or one of several definitions that are the same by the promise of `once`, stands for. NULL: it is
   a definition itself, its module's own, or nobody's. */
struct link_symbol *link_function_stands_for(const struct linker *l, const struct ir_function *f);
struct link_symbol *link_variable_stands_for(const struct linker *l, const struct ir_global *g);
/* Reports imports that are used and defined nowhere, and those that differ from their definition. */
void link_check_imports(struct linker *l);

/* ---- match.c ---- */

/* Reports where a declaration and its definition do not agree. */
void link_match_function(struct linker *l, uint32_t module, const struct ir_function *f, const struct link_symbol *s);
void link_match_variable(struct linker *l, uint32_t module, const struct ir_global *g, const struct link_symbol *s);

/* ---- calls.c ---- */

/* The graph of calls over all modules. */
void link_calls(struct linker *l);
/* The node that a node stands for: itself, or where an import is defined. */
size_t link_definition(const struct linker *l, size_t node);
/* Reports functions that call each other in a circle. */
void link_check_recursion(struct linker *l);

/* ---- sub_group.c ---- */

/* Reports kernels that call functions of other modules made for other sub-group sizes. */
void link_check_sub_groups(struct linker *l);

/* ---- define.c ---- */

/* Makes the definitions in the result, under names of their own, without their bodies; imports become what they
   stand for. */
void link_define(struct linker *l);
