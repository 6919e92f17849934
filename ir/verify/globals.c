/* Variables and pipes of the module. */
#include "ir/verify/globals.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ir/base/arena.h"
#include "ir/core/pipe_properties.h"
#include "ir/verify/address.h"
#include "ir/verify/known_types.h"
#include "ir/verify/names.h"
#include "ir/verify/report.h"

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

/* A value that a property cannot have, or that says something of wires which the pipe's protocol does not have. */
static void check_property(struct verifier *v, const struct ir_global *g, const struct ir_pipe_property *p)
{
    unsigned n, protocol = ir_pipe_property(g, IR_PIPE_PROTOCOL);
    const char *name = ir_pipe_property_name(p->what);
    const char *const *words = ir_pipe_property_words(p->what, &n);
    if (words && p->value >= n) {
        verify_report(v, "pipe %s has %s %u; 0 to %u can be", g->name, name, p->value, n - 1);
        return;
    }
    uint64_t bits = ir_type_size(v->m, g->packet) * 8;
    if (p->what == IR_PIPE_BITS_PER_SYMBOL && (!p->value || bits % p->value))
        verify_report(v, "pipe %s has %s %u, which does not divide the %" PRIu64 " bits of its packets", g->name, name,
                      p->value, bits);
    if (protocol < IR_PIPE_PROTOCOL_COUNT && !ir_pipe_property_means(p, protocol))
        verify_report(v, "pipe %s has %s, which its protocol does not have", g->name, name);
}

static void check_properties(struct verifier *v, const struct ir_global *g)
{
    for (uint32_t i = 0; i < g->n_properties; i++) check_property(v, g, &g->properties[i]);
}

static void check_pipe(struct verifier *v, const struct ir_global *g, const char *name)
{
    if (verify_type_memory(v, g->packet))
        check_properties(v, g);
    else
        verify_report(v, "pipe %s has packets of no type that lies in memory", name);
    if (!g->capacity) verify_report(v, "pipe %s has no capacity", name);
    if (g->init) verify_report(v, "pipe %s has initial bytes", name);
    if (g->space != IR_SPACE_GLOBAL) verify_report(v, "pipe %s is not in the global address space", name);
}

static void check_variable(struct verifier *v, const struct ir_global *g, const char *name)
{
    if (!verify_type_memory(v, g->type)) verify_report(v, "global %s is of no type that lies in memory", name);
    if (g->packet != IR_VOID || g->capacity || g->host_access || g->n_properties)
        verify_report(v, "global %s is not a pipe but has a packet type, a capacity, a host access or properties",
                      name);
    if (g->init && g->space == IR_SPACE_LOCAL) verify_report(v, "global %s is local and has initial bytes", name);
    if (g->space != IR_SPACE_GLOBAL && g->space != IR_SPACE_CONSTANT && g->space != IR_SPACE_LOCAL)
        verify_report(v, "global %s is neither in the global, nor the constant, nor the local address space", name);
}

static void check_global(struct verifier *v, const struct ir_global *g, const char *name)
{
    if (ir_type_kind(g->type) == IR_KIND_PIPE && verify_type_ok(v, g->type)) {
        check_pipe(v, g, name);
    } else {
        check_variable(v, g, name);
    }
    if (g->align && !is_power_of_two(g->align))
        verify_report(v, "global %s has alignment %u, which is not a power of two", name, g->align);
    if (g->linkage >= IR_LINKAGE_COUNT || g->linkage == IR_LINKAGE_KERNEL)
        verify_report(v, "global %s is neither internal, nor exported, nor imported", name);
    if (g->linkage == IR_LINKAGE_IMPORT && g->init)
        verify_report(v, "global %s is imported and has initial bytes", name);
    verify_addresses(v, g);
}

void verify_globals(struct verifier *v)
{
    const struct ir_module *m = v->m;
    const char **names = arena_realloc(NULL, m->n_globals * sizeof *names);
    for (uint32_t i = 0; i < m->n_globals; i++) {
        names[i] = m->globals[i]->name;
        if (!names[i] || !verify_name_ok(names[i])) verify_report(v, "global %u has no name that can be written", i);
        check_global(v, m->globals[i], names[i] ? names[i] : "?");
    }
    verify_unique(v, names, m->n_globals, "globals");
    for (uint32_t i = 0; i < m->n_globals; i++) names[i] = m->globals[i]->host_access;
    verify_unique(v, names, m->n_globals, "host accesses of pipes");
    free(names);
}
