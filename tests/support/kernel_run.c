/* Running kernels in the interpreter on made-up data. */
#include "tests/support/kernel_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/core/float.h"
#include "tests/support/rng.h"

/* One number of the kind: its bits. */
static uint64_t random_number(struct rng *rng, enum ir_kind kind)
{
    if (kind == IR_KIND_BOOL) return rng_below(rng, 2);
    if (kind == IR_KIND_F16 || kind == IR_KIND_F32 || kind == IR_KIND_F64)
        return ir_float_bits(kind, (double)rng_below(rng, 65) / 4.0 - 8.0);
    return rng_below(rng, 16);
}

static void fill(struct slot *s, uint64_t seed)
{
    struct rng rng = {seed};
    enum ir_kind kind = ir_type_is_number(s->elem) ? ir_type_kind(s->elem) : IR_KIND_I8;
    size_t size = kind == IR_KIND_BOOL ? 1 : ir_type_bits(IR_TYPE(kind, 1, 0)) / 8;
    for (uint64_t at = 0; at + size <= s->bytes; at += size) {
        uint64_t bits = random_number(&rng, kind);
        memcpy(s->data + at, &bits, size);
    }
}

struct slot slot_new(const struct ir_module *m, const struct ir_param *p, uint64_t count, uint64_t seed)
{
    bool points = ir_type_is_ptr(p->value->type);
    struct slot s = {.elem = points ? p->elem : p->value->type};
    s.kind = !points || p->by_value ? INTERP_ARG_BYTES : INTERP_ARG_BUFFER;
    if (points && ir_type_space(p->value->type) == IR_SPACE_LOCAL) s.kind = INTERP_ARG_LOCAL;
    s.bytes = ir_type_size(m, s.elem) * (s.kind == INTERP_ARG_BYTES ? 1 : count);
    if (s.kind == INTERP_ARG_LOCAL) return s;
    s.data = arena_realloc(NULL, s.bytes);
    memset(s.data, 0, s.bytes);
    fill(&s, seed);
    return s;
}

void slot_clear(struct slot *s)
{
    free(s->data);
    *s = (struct slot){0};
}

bool slots_run(const struct ir_function *kernel, const struct nd_range *range, struct slot *const *slots)
{
    struct interp_arg *args = arena_realloc(NULL, (kernel->n_params + 1) * sizeof *args);
    struct interp_options options = {.sub_group_size = 4, .check_races = true, .check_unwritten = true};
    struct interp_result result = {0};
    for (uint32_t i = 0; i < kernel->n_params; i++)
        args[i] = (struct interp_arg){.kind = slots[i]->kind, .data = slots[i]->data, .size = slots[i]->bytes};
    int rc = interp_run(kernel, range, args, &options, &result);
    for (uint32_t i = 0; i < result.n_findings; i++)
        fprintf(stderr, "# %s, line %u: %s\n", kernel->name, result.findings[i].line, result.findings[i].text);
    bool clean = rc == 0 && result.completed && !result.n_findings;
    interp_result_clear(&result);
    free(args);
    return clean;
}
