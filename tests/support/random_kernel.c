/* Random kernels that can be run: parameters, statements, and the control flow around them. */
#include "tests/support/random_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/generator.h"
#include "tests/support/random_groups.h"
#include "tests/support/random_parts.h"
#include "tests/support/random_steps.h"

static void set_options(struct steps *k, const struct random_kernel_options *options)
{
    if (options) k->options = *options;
    if (!k->options.items) k->options.items = 64;
    if (!k->options.buffers) k->options.buffers = 2 + rng_below(&k->g.rng, 3);
    if (!k->options.instructions) k->options.instructions = 40;
    if (!k->options.depth) k->options.depth = 3;
}

/* ---- parameters ---- */

/* How many items there are, for the test that keeps the others out. */
static void add_limit(struct steps *k, struct random_arg *a)
{
    parts_scalar(k, a, IR_I32);
    uint32_t n = (uint32_t)k->options.items;
    if (rng_chance(&k->g.rng, 30)) n -= rng_below(&k->g.rng, n < 5 ? n : 5);
    memcpy(a->value, &n, sizeof n);
}

/* Buffers, then scalars; at the end what `guarded`, `local_size` and `inexact` ask for. */
static void make_args(struct steps *k, bool guarded)
{
    uint32_t scalars = rng_below(&k->g.rng, 4), n = 0;
    k->args = calloc(k->options.buffers + scalars + 3, sizeof *k->args);
    if (!k->args) abort();
    while (n < k->options.buffers) parts_buffer(k, &k->args[n++]);
    k->args[0].access = IR_ACCESS_READ_WRITE; /* so that something comes in and something out */
    for (; scalars; scalars--) parts_scalar(k, &k->args[n++], steps_scalar(k));
    k->limit = k->local = k->inexact = UINT32_MAX;
    if (guarded) add_limit(k, &k->args[k->limit = n++]);
    if (k->options.local_size) parts_local(k, &k->args[k->local = n++]);
    if (k->options.inexact) {
        struct random_arg *a = &k->args[k->inexact = n++];
        parts_buffer(k, a);
        a->type = IR_F32;
        a->count = k->options.items;
        a->size = a->count * sizeof(float);
        a->access = IR_ACCESS_WRITE;
        a->inexact = true;
    }
    k->n_args = n;
}

/* ---- the body ---- */

static void make_main(struct steps *k)
{
    parts_load_all(k);
    steps_fill(k, 1);
    parts_store_all(k);
}

static void make_body(struct steps *k)
{
    struct ir_builder *b = &k->g.b;
    *b = ir_builder_at_end(k->f->body);
    b->loc = (struct ir_loc){ir_module_file(k->g.m, "random.fk"), 1, 0};
    k->left = k->options.instructions;
    k->id =
        rng_chance(&k->g.rng, 50) ? ir_build_id(b, IR_OP_GLOBAL_ID, 0) : ir_build0(b, IR_OP_GLOBAL_LINEAR_ID, IR_VOID);
    gen_define(&k->g, k->id);
    if (k->local != UINT32_MAX) groups_exchange(k, IR_SCOPE_WORK_GROUP);
    if (k->limit == UINT32_MAX) {
        make_main(k);
    } else {
        struct ir_value *limit = ir_build1(b, IR_OP_ZEXT, IR_I64, k->f->params[k->limit].value);
        struct ir_value *inside = ir_build2(b, IR_OP_ULT, IR_I64, k->id, limit);
        struct ir_inst *inst = ir_build_if(b, inside, NULL, 0);
        struct ir_builder outer = *b;
        *b = ir_builder_at_end(inst->blocks[1]);
        b->loc = outer.loc;
        ir_build(b, IR_OP_YIELD, IR_VOID, NULL, 0);
        *b = ir_builder_at_end(inst->blocks[0]);
        b->loc = outer.loc;
        make_main(k);
        ir_build(b, IR_OP_YIELD, IR_VOID, NULL, 0);
        outer.loc = b->loc;
        *b = outer;
    }
    ir_build(b, IR_OP_RETURN, IR_VOID, NULL, 0);
}

struct random_kernel random_kernel(uint64_t seed, const struct random_kernel_options *options)
{
    struct steps k = {.g = {.rng.state = seed, .executable = true}};
    set_options(&k, options);
    k.g.m = ir_module_new("random");
    parts_helpers(&k);
    make_args(&k, k.options.guarded || rng_chance(&k.g.rng, 50));
    k.f = ir_function_new(k.g.m, "kernel", IR_LINKAGE_KERNEL, IR_VOID, k.n_args);
    parts_params(&k);
    make_body(&k);
    gen_close(&k.g);
    return (struct random_kernel){k.g.m, k.f, k.options.items, k.limit != UINT32_MAX, k.n_args, k.args};
}

void random_kernel_clear(struct random_kernel *k)
{
    ir_module_free(k->module);
    free(k->args);
    *k = (struct random_kernel){0};
}
