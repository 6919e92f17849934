/* The linker's part for sub-group sizes: a kernel and the functions of other modules that it calls are made for the
 * same one, in each module that names them (SYCL_EXTERNAL in sycl_ext_oneapi_sub_group). */
#include "ir/link/sub_group_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "ir/base/arena.h"
#include "ir/link/calls.h"
#include "ir/link/report.h"

/* No size means the primary one: a module's other default has been applied when it was read. */
static uint32_t size_of(const struct ir_function *f)
{
    return f->sub_group_size ? f->sub_group_size : IR_SUB_GROUP_PRIMARY;
}

struct size_text {
    char text[40];
};

static struct size_text size_text(const struct ir_function *f)
{
    struct size_text t;
    uint32_t size = f->sub_group_size;
    if (!size)
        snprintf(t.text, sizeof t.text, "none, which means primary");
    else if (size == IR_SUB_GROUP_PRIMARY || size == IR_SUB_GROUP_AUTOMATIC)
        snprintf(t.text, sizeof t.text, "%s", size == IR_SUB_GROUP_PRIMARY ? "primary" : "automatic");
    else
        snprintf(t.text, sizeof t.text, "%" PRIu32, size);
    return t;
}

/* What the kernels of one size reach. */
struct reach {
    struct linker *l;
    uint32_t size;
    const struct link_node **kernel; /* by node: a kernel that reaches it; NULL: none so far */
    size_t *nodes, n, done;          /* in the order in which they were reached */
};

static void reach_node(struct reach *r, size_t node, const struct link_node *kernel)
{
    if (r->kernel[node]) return;
    r->kernel[node] = kernel;
    r->nodes[r->n++] = node;
}

static void check_declaration(struct reach *r, const struct link_node *caller, const struct link_edge *e,
                              const struct link_node *kernel)
{
    struct linker *l = r->l;
    const struct link_node *declared = &l->nodes[e->callee], *defined = &l->nodes[link_definition(l, e->callee)];
    if (size_of(declared->f) != r->size)
        link_fail(l, kernel->f, kernel->f->loc,
                  "has sub-group size %s in %s; it calls %s in %s (%s), whose sub-group size is %s there (declared at "
                  "%s)",
                  size_text(kernel->f).text, link_place(l, kernel->module, kernel->f->loc), declared->f->name,
                  caller->f->name, link_line(l, caller->module, e->call->loc), size_text(declared->f).text,
                  link_line(l, declared->module, declared->f->loc));
    if (size_of(declared->f) != size_of(defined->f))
        link_fail(l, declared->f, declared->f->loc,
                  "is declared with sub-group size %s in %s and defined with %s in %s; kernel %s calls it",
                  size_text(declared->f).text, link_place(l, declared->module, declared->f->loc),
                  size_text(defined->f).text, link_place(l, defined->module, defined->f->loc), kernel->f->name);
}

static void reach_calls(struct reach *r, size_t node)
{
    struct linker *l = r->l;
    const struct link_node *caller = &l->nodes[node], *kernel = r->kernel[node];
    for (size_t i = 0; i < caller->n_edges; i++) {
        const struct link_edge *e = &l->edges[caller->first_edge + i];
        const struct link_node *callee = &l->nodes[e->callee];
        if (callee->f->linkage == IR_LINKAGE_IMPORT && !r->kernel[e->callee]) check_declaration(r, caller, e, kernel);
        reach_node(r, e->callee, kernel);
        reach_node(r, link_definition(l, e->callee), kernel);
    }
}

/* From all kernels of the size of the first one at or behind *next that has not been looked at. */
static void check_size(struct linker *l, bool *looked_at, size_t first)
{
    struct reach r = {.l = l,
                      .size = size_of(l->nodes[first].f),
                      .kernel = arena_alloc(l->arena, l->n_nodes * sizeof *r.kernel),
                      .nodes = arena_alloc(l->arena, l->n_nodes * sizeof *r.nodes)};
    for (size_t n = first; n < l->n_nodes; n++) {
        if (l->nodes[n].f->linkage != IR_LINKAGE_KERNEL || size_of(l->nodes[n].f) != r.size) continue;
        looked_at[n] = true;
        reach_node(&r, n, &l->nodes[n]);
    }
    while (r.done < r.n) reach_calls(&r, r.nodes[r.done++]);
}

void link_check_sub_groups(struct linker *l)
{
    bool *looked_at = arena_alloc(l->arena, l->n_nodes * sizeof *looked_at);
    for (size_t n = 0; n < l->n_nodes; n++)
        if (l->nodes[n].f->linkage == IR_LINKAGE_KERNEL && !looked_at[n]) check_size(l, looked_at, n);
}
