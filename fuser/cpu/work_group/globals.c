/*
 * Module-scope variables. Constants, variables and pipes of the program are data of the object: their initial bytes,
 * and the addresses that lie among these. Variables of the work-group take bytes of its memory.
 */
#include "fuser/cpu/work_group/globals.h"

#include <stdio.h>
#include <string.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/emit/launch.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/jit/jit.h"
#include "ir/analysis/reachable_globals.h"

/* ---- data of the object ---- */

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

static lval declare(struct emit *e, const struct ir_global *g, uint64_t size)
{
    char name[64];
    snprintf(name, sizeof name, "%s_global_%u", e->name, g->scratch);
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

static void set_addresses(struct emit *e, const struct ir_global *g, const lval *variables)
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

/* ---- where each lies ---- */

struct placing {
    struct emit *e;
    lval *variables; /* that lie in the object: by scratch */
    uint32_t local_bytes;
};

static void place_in_local_memory(struct placing *p, const struct ir_global *g)
{
    struct emit *e = p->e;
    uint32_t align = g->align ? g->align : 1;
    p->local_bytes = (p->local_bytes + align - 1) / align * align;
    e->memory->globals[g->scratch] =
        jit_read(jit_keep(e, jit_add(e, e->launch->local.start, jit_int(e, IR_KIND_I64, p->local_bytes))));
    p->local_bytes += (uint32_t)ir_type_size(e->module, g->type);
}

static rval place_in_object(struct placing *p, const struct ir_global *g, uint64_t size)
{
    struct emit *e = p->e;
    lval v = p->variables[g->scratch] = declare(e, g, size);
    e->memory->globals[g->scratch] = jit_read(jit_keep(e, jit_address(e, v)));
    return e->memory->globals[g->scratch];
}

/* All zero at first, as memory of a program is; then an empty pipe, whoever comes first. */
static void place_pipe_in_object(struct placing *p, const struct ir_global *g)
{
    struct emit *e = p->e;
    uint64_t packet = ir_type_size(e->module, g->packet);
    rval pipe = place_in_object(p, g, kernel_pipe_bytes(packet, g->capacity));
    rval size = jit_add(e, pipe, jit_u64(e, offsetof(struct kernel_pipe, packet_size)));
    rval capacity = jit_add(e, pipe, jit_u64(e, offsetof(struct kernel_pipe, capacity)));
    jit_set(e, jit_memory(e, jit_type(e, IR_KIND_I32), size, 4), jit_int(e, IR_KIND_I32, packet));
    jit_set(e, jit_memory(e, jit_type(e, IR_KIND_I32), capacity, 4), jit_int(e, IR_KIND_I32, g->capacity));
}

static void collect_global(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_GLOBAL) ir_held_add(data, inst->attrs.global);
}

static void place_global(struct placing *p, const struct ir_global *g)
{
    if (ir_type_kind(g->type) == IR_KIND_PIPE)
        place_pipe_in_object(p, g);
    else if (g->space == IR_SPACE_LOCAL)
        place_in_local_memory(p, g);
    else
        place_in_object(p, g, ir_type_size(p->e->module, g->type));
}

uint32_t globals_place(struct emit *e)
{
    struct placing p = {.e = e};
    struct ir_held used;
    ir_held_open(&used, e->module);
    ir_walk(e->kernel->body, collect_global, &used);
    p.variables = arena_alloc(e->arena, (e->module->n_globals + 1) * sizeof *p.variables);
    for (uint32_t i = 0; i < used.n; i++) place_global(&p, used.list[i]);
    for (uint32_t i = 0; i < used.n; i++)
        if (used.list[i]->n_addresses) set_addresses(e, used.list[i], p.variables);
    ir_held_close(&used);
    return p.local_bytes;
}
