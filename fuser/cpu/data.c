/* Data of the object: variables of the module, their initial bytes, and the addresses that lie among these. */
#include <stdio.h>
#include <string.h>

#include "fuser/cpu/emit.h"

static gcc_jit_type *address_type(struct emit *e)
{
    return gcc_jit_type_get_pointer(jit_type(e, IR_KIND_I8));
}

/* A word may be an address only where the linker can see it as one: such variables are made of pointers. */
static gcc_jit_type *data_type(struct emit *e, const struct ir_global *g, uint64_t size)
{
    if (!g->n_addresses) return gcc_jit_context_new_array_type(e->gcc, NULL, jit_type(e, IR_KIND_I8), (int)size);
    return gcc_jit_context_new_array_type(e->gcc, NULL, address_type(e), (int)((size + 7) / 8));
}

lval data_declare(struct emit *e, const struct ir_global *g, uint64_t size)
{
    char name[32];
    snprintf(name, sizeof name, "global_%u", g->scratch);
    lval v = gcc_jit_context_new_global(e->gcc, NULL, GCC_JIT_GLOBAL_INTERNAL, data_type(e, g, size), name);
    gcc_jit_lvalue_set_alignment(v, g->align > 64 ? g->align : 64);
    if (g->init && !g->n_addresses) gcc_jit_global_set_initializer(v, g->init, size);
    return v;
}

static rval address_of(struct emit *e, lval target, uint64_t at)
{
    rval base = gcc_jit_context_new_cast(e->gcc, NULL, gcc_jit_lvalue_get_address(target, NULL), address_type(e));
    if (!at) return base;
    return gcc_jit_lvalue_get_address(gcc_jit_context_new_array_access(e->gcc, NULL, base, jit_int(e, IR_KIND_I64, at)),
                                      NULL);
}

static rval plain_word(struct emit *e, const struct ir_global *g, uint64_t size, uint64_t at)
{
    uintptr_t bits = 0;
    memcpy(&bits, g->init + at, size - at < sizeof bits ? size - at : sizeof bits);
    return gcc_jit_context_new_rvalue_from_ptr(e->gcc, address_type(e), (void *)bits);
}

void data_set_addresses(struct emit *e, const struct ir_global *g, const lval *variables)
{
    uint64_t size = ir_type_size(e->module, g->type), n = (size + 7) / 8;
    uint32_t next = 0;
    rval *words = arena_alloc(e->arena, n * sizeof(rval));
    for (uint64_t i = 0; i < n; i++) {
        const struct ir_address *a =
            next < g->n_addresses && g->addresses[next].offset == i * 8 ? &g->addresses[next] : NULL;
        words[i] = a ? address_of(e, variables[a->target->scratch], a->at) : plain_word(e, g, size, i * 8);
        next += a != NULL;
    }
    gcc_jit_global_set_initializer_rvalue(
        variables[g->scratch], gcc_jit_context_new_array_constructor(e->gcc, NULL, data_type(e, g, size), n, words));
}
