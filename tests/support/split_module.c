/* A module taken apart into several that import from each other. */
#include "tests/support/split_module.h"

#include <stdlib.h>

#include "ir/core/clone.h"
#include "tests/support/rng.h"

/* Which part has what. */
struct split {
    const struct ir_module *m;
    uint32_t *function_part, *variable_part;
};

static void return_anything(struct ir_function *f)
{
    struct ir_builder b = ir_builder_at_end(f->body);
    struct ir_value *any = f->result != IR_VOID ? ir_undef(f->module, f->result) : NULL;
    ir_build(&b, IR_OP_RETURN, IR_VOID, &any, any != NULL);
}

static void define_function(struct ir_copy *c, const struct ir_function *f)
{
    struct ir_function made = *f;
    made.linkage = IR_LINKAGE_EXPORT;
    if (f->body)
        ir_copy_signature(c, f, f->name)->linkage = f->linkage == IR_LINKAGE_KERNEL ? f->linkage : IR_LINKAGE_EXPORT;
    else
        return_anything(ir_copy_signature(c, &made, f->name));
}

static void import_function(struct ir_copy *c, const struct ir_function *f)
{
    struct ir_function import = *f;
    if (f->linkage == IR_LINKAGE_KERNEL) return; /* nobody can call it */
    import.linkage = IR_LINKAGE_IMPORT;
    import.body = NULL;
    ir_copy_signature(c, &import, f->name);
}

static void add_variable(const struct split *s, struct ir_copy *c, const struct ir_global *g, uint32_t part)
{
    bool here = s->variable_part[g->scratch] == part;
    struct ir_global other = *g;
    other.linkage = here ? IR_LINKAGE_EXPORT : IR_LINKAGE_IMPORT;
    if (!here) other.init = NULL;
    if (!here) other.n_addresses = 0;
    ir_copy_global(c, &other, g->name);
}

static struct ir_module *make_part(const struct split *s, uint32_t part)
{
    const char name[] = {'a' + (char)part, 0};
    struct ir_module *into = ir_module_new(name);
    struct ir_copy *c = ir_copy_open(into, s->m);
    for (uint32_t i = 0; i < s->m->n_globals; i++) add_variable(s, c, s->m->globals[i], part);
    for (uint32_t i = 0; i < s->m->n_functions; i++)
        (s->function_part[i] == part ? define_function : import_function)(c, s->m->functions[i]);
    ir_copy_bodies(c);
    ir_copy_close(c);
    return into;
}

static uint32_t *random_parts(struct rng *rng, uint32_t count, uint32_t n)
{
    uint32_t *parts = calloc(count + 1, sizeof *parts);
    for (uint32_t i = 0; i < count; i++) parts[i] = rng_below(rng, n);
    return parts;
}

void split_module(const struct ir_module *m, uint64_t seed, struct ir_module **parts, uint32_t n)
{
    struct rng rng = {seed};
    struct split s = {m, random_parts(&rng, m->n_functions, n), random_parts(&rng, m->n_globals, n)};
    for (uint32_t i = 0; i < n; i++) parts[i] = make_part(&s, i);
    free(s.function_part);
    free(s.variable_part);
}
