/* Variables of the module: initial values, and the addresses in these. */
#include "fuser/cpu/batch/variables.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/cpu/runtime/pipe.h"
#include "ir/analysis/reachable_globals.h"

static void see_global(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_GLOBAL) ir_held_add(data, inst->attrs.global);
}

static void *aligned_zeros(uint64_t bytes)
{
    uint64_t size = (bytes + 63) / 64 * 64 + 64;
    void *memory = aligned_alloc(64, size);
    if (!memory) arena_no_memory(size);
    return memset(memory, 0, size);
}

static void *make_pipe(const struct ir_module *m, const struct ir_global *g)
{
    uint64_t packet = ir_type_size(m, g->packet);
    struct kernel_pipe *pipe = aligned_zeros(kernel_pipe_bytes(packet, g->capacity));
    kernel_pipe_init(pipe, (uint32_t)packet, g->capacity);
    return pipe;
}

static void place(struct batch *b, const struct ir_module *m, struct batch_global *own)
{
    const struct ir_global *g = own->global;
    if (g->linkage == IR_LINKAGE_IMPORT) return;
    uint64_t size = ir_type_size(m, g->type), align = g->align ? g->align : ir_type_align(m, g->type);
    if (ir_type_kind(g->type) == IR_KIND_PIPE) {
        own->memory = make_pipe(m, g);
    } else if (g->space == IR_SPACE_LOCAL) {
        own->local_at = (b->info.static_local_size + align - 1) / align * align;
        b->info.static_local_size = (uint32_t)(own->local_at + size);
    } else {
        own->memory = aligned_zeros(size);
        if (g->init) memcpy(own->memory, g->init, size);
    }
}

static void fill_in_addresses(struct batch *b, const struct batch_global *own)
{
    for (uint32_t i = 0; i < own->global->n_addresses; i++) {
        const struct ir_address *a = &own->global->addresses[i];
        uint64_t address = (uintptr_t)b->globals[a->target->scratch].memory + a->at;
        memcpy((uint8_t *)own->memory + a->offset, &address, sizeof address);
    }
}

void variables_place(struct batch *b, struct ir_function *const *functions, uint32_t n)
{
    const struct ir_module *m = functions[0]->module;
    struct ir_held held;
    ir_held_open(&held, m);
    for (uint32_t i = 0; i < n; i++) ir_walk(functions[i]->body, see_global, &held);
    b->globals = arena_alloc(b->arena, (held.n + 1) * sizeof *b->globals);
    b->n_globals = held.n;
    for (uint32_t i = 0; i < held.n; i++) {
        b->globals[i].global = held.list[i];
        place(b, m, &b->globals[i]);
    }
    for (uint32_t i = 0; i < held.n; i++) m->globals[held.list[i]->scratch]->scratch = i;
    for (uint32_t i = 0; i < held.n; i++) fill_in_addresses(b, &b->globals[i]);
    ir_held_close(&held);
}

void variables_free(struct batch *b)
{
    for (uint32_t i = 0; i < b->n_globals; i++) free(b->globals[i].memory);
}
