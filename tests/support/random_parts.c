/* Parameters, helper functions, first loads and last stores of random kernels. */
#include "tests/support/random_parts.h"

#include <stdio.h>
#include <string.h>

void parts_buffer(struct steps *k, struct random_arg *a)
{
    a->kind = RANDOM_BUFFER;
    a->type = steps_type(k);
    a->count = k->options.items * (1 + rng_below(&k->g.rng, 3));
    a->size = a->count * ir_type_size(k->g.m, a->type);
    a->access = IR_ACCESS_READ + rng_below(&k->g.rng, 3);
}

void parts_scalar(struct steps *k, struct random_arg *a, ir_type t)
{
    a->kind = RANDOM_SCALAR;
    a->type = t;
    a->count = 1;
    a->size = ir_type_size(k->g.m, t);
    const struct ir_value *v = gen_constant(&k->g, t);
    memcpy(a->value, v->of.lanes, a->size);
}

void parts_local(struct steps *k, struct random_arg *a)
{
    a->kind = RANDOM_LOCAL;
    a->type = rng_chance(&k->g.rng, 50) ? gen_int(&k->g) : IR_F32;
    a->count = k->options.local_size;
    a->size = a->count * ir_type_size(k->g.m, a->type);
}

void parts_params(struct steps *k)
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

void parts_load_all(struct steps *k)
{
    for (uint32_t i = 0; i < k->options.buffers; i++)
        if (k->args[i].access != IR_ACCESS_WRITE) steps_load(k, i);
}

void parts_store_all(struct steps *k)
{
    for (uint32_t i = 0; i < k->options.buffers; i++)
        if (k->args[i].access != IR_ACCESS_READ) steps_store(k, i);
}

void parts_helpers(struct steps *k)
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
