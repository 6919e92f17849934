/* Random kernels that can be run: parameters, statements, and the control flow around them. */
#include "tests/support/random_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/generator.h"
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

static void add_buffer(struct steps *k, struct random_arg *a)
{
    a->kind = RANDOM_BUFFER;
    a->type = steps_type(k);
    a->count = k->options.items * (1 + rng_below(&k->g.rng, 3));
    a->size = a->count * ir_type_size(k->g.m, a->type);
    a->access = IR_ACCESS_READ + rng_below(&k->g.rng, 3);
}

static void add_scalar(struct steps *k, struct random_arg *a, ir_type t)
{
    a->kind = RANDOM_SCALAR;
    a->type = t;
    a->count = 1;
    a->size = ir_type_size(k->g.m, t);
    const struct ir_value *v = gen_constant(&k->g, t);
    memcpy(a->value, v->of.lanes, a->size);
}

/* How many items there are, for the test that keeps the others out. */
static void add_limit(struct steps *k, struct random_arg *a)
{
    add_scalar(k, a, IR_I32);
    uint32_t n = (uint32_t)k->options.items;
    if (rng_chance(&k->g.rng, 30)) n -= rng_below(&k->g.rng, n < 5 ? n : 5);
    memcpy(a->value, &n, sizeof n);
}

static void add_local(struct steps *k, struct random_arg *a)
{
    a->kind = RANDOM_LOCAL;
    a->type = rng_chance(&k->g.rng, 50) ? gen_int(&k->g) : IR_F32;
    a->count = k->options.local_size;
    a->size = a->count * ir_type_size(k->g.m, a->type);
}

/* Buffers, then scalars; at the end what `guarded`, `local_size` and `inexact` ask for. */
static void make_args(struct steps *k, bool guarded)
{
    uint32_t scalars = rng_below(&k->g.rng, 4), n = 0;
    k->args = calloc(k->options.buffers + scalars + 3, sizeof *k->args);
    if (!k->args) abort();
    while (n < k->options.buffers) add_buffer(k, &k->args[n++]);
    k->args[0].access = IR_ACCESS_READ_WRITE; /* so that something comes in and something out */
    for (; scalars; scalars--) add_scalar(k, &k->args[n++], steps_scalar(k));
    k->limit = k->local = k->inexact = UINT32_MAX;
    if (guarded) add_limit(k, &k->args[k->limit = n++]);
    if (k->options.local_size) add_local(k, &k->args[k->local = n++]);
    if (k->options.inexact) {
        struct random_arg *a = &k->args[k->inexact = n++];
        add_buffer(k, a);
        a->type = IR_F32;
        a->count = k->options.items;
        a->size = a->count * sizeof(float);
        a->access = IR_ACCESS_WRITE;
        a->inexact = true;
    }
    k->n_args = n;
}

static void make_params(struct steps *k)
{
    for (uint32_t i = 0; i < k->n_args; i++) {
        const struct random_arg *a = &k->args[i];
        char name[16];
        snprintf(name, sizeof name, "%c%u", "bsl"[a->kind], i);
        ir_type t =
            a->kind == RANDOM_SCALAR ? a->type : IR_PTR(a->kind == RANDOM_BUFFER ? IR_SPACE_GLOBAL : IR_SPACE_LOCAL);
        ir_function_set_param(k->f, i, name, t);
        if (a->kind == RANDOM_SCALAR) {
            if (i != k->limit) gen_define(&k->g, k->f->params[i].value);
            continue;
        }
        k->f->params[i].elem = a->type;
        k->f->params[i].access = a->access;
    }
}

/* ---- the body ---- */

/* Each item puts a number into local memory and takes that of another one. */
static void exchange(struct steps *k)
{
    struct ir_builder *b = &k->g.b;
    ir_type t = k->args[k->local].type;
    struct ir_value *memory = k->f->params[k->local].value;
    struct ir_value *id = ir_build_id(b, IR_OP_LOCAL_ID, 0), *size = ir_build_id(b, IR_OP_LOCAL_SIZE, 0);
    ir_build_store(b, t, memory, id, steps_convert(k, k->id, t));
    steps_barrier(k);
    struct ir_value *distance = ir_const_int(k->g.m, IR_I64, 1 + rng_below(&k->g.rng, 4));
    struct ir_value *sum = ir_build2(b, IR_OP_ADD, IR_I64, id, distance);
    struct ir_value *other = ir_build2(b, IR_OP_UREM, IR_I64, sum, size);
    gen_define(&k->g, ir_build_load(b, t, memory, other));
    steps_barrier(k);
}

/* Something of each readable buffer, so that the rest has data to work on. */
static void load_all(struct steps *k)
{
    for (uint32_t i = 0; i < k->n_args; i++)
        if (k->args[i].kind == RANDOM_BUFFER && k->args[i].access != IR_ACCESS_WRITE) steps_load(k, i);
}

/* A store to each writable buffer at the end, so that what was computed shows. */
static void store_all(struct steps *k)
{
    for (uint32_t i = 0; i < k->n_args; i++)
        if (k->args[i].kind == RANDOM_BUFFER && k->args[i].access != IR_ACCESS_READ && i != k->inexact)
            steps_store(k, i);
}

static void make_main(struct steps *k)
{
    load_all(k);
    steps_fill(k, 1);
    store_all(k);
}

static void make_body(struct steps *k)
{
    struct ir_builder *b = &k->g.b;
    *b = ir_builder_at_end(k->f->body);
    b->loc = (struct ir_loc){ir_module_file(k->g.m, "random.fk"), 1};
    k->left = k->options.instructions;
    k->id =
        rng_chance(&k->g.rng, 50) ? ir_build_id(b, IR_OP_GLOBAL_ID, 0) : ir_build0(b, IR_OP_GLOBAL_LINEAR_ID, IR_VOID);
    gen_define(&k->g, k->id);
    if (k->local != UINT32_MAX) exchange(k);
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

/* Functions that compute a number from numbers, for the kernel to call. */
static void make_helpers(struct steps *k)
{
    if (k->options.no_calls) return;
    for (uint32_t i = rng_below(&k->g.rng, 3); i; i--) {
        char name[16];
        snprintf(name, sizeof name, "helper%u", i);
        uint32_t n = 1 + rng_below(&k->g.rng, 3);
        struct ir_function *f = ir_function_new(k->g.m, name, IR_LINKAGE_INTERNAL, steps_type(k), n);
        k->g.n_visible = 0;
        for (uint32_t p = 0; p < n; p++) {
            ir_function_set_param(f, p, NULL, steps_type(k));
            gen_define(&k->g, f->params[p].value);
        }
        k->f = f;
        k->g.b = ir_builder_at_end(f->body);
        k->left = 8;
        steps_fill(k, k->options.depth - 1);
        struct ir_value *result = steps_value(k, f->result);
        ir_build(&k->g.b, IR_OP_RETURN, IR_VOID, &result, 1);
    }
    k->g.n_visible = 0;
}

struct random_kernel random_kernel(uint64_t seed, const struct random_kernel_options *options)
{
    struct steps k = {.g = {.rng.state = seed, .executable = true}};
    set_options(&k, options);
    k.g.m = ir_module_new("random");
    make_helpers(&k);
    make_args(&k, k.options.guarded || rng_chance(&k.g.rng, 50));
    k.f = ir_function_new(k.g.m, "kernel", IR_LINKAGE_KERNEL, IR_VOID, k.n_args);
    make_params(&k);
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
