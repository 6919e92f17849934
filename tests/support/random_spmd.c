/* The structure of random programs of groups: who is together where. */
#include "tests/support/random_spmd.h"

#include <stdlib.h>

#include "tests/support/random_control.h"
#include "tests/support/random_groups.h"
#include "tests/support/random_parts.h"

enum { MOST_SUB_GROUP = 64, DEEPEST = 3 };

static uint32_t below(struct steps *k, uint32_t n)
{
    return rng_below(&k->g.rng, n);
}

static bool chance(struct steps *k, uint32_t percent)
{
    return rng_chance(&k->g.rng, percent);
}

/* ---- the range ---- */

static uint64_t volume_of(const uint64_t size[3])
{
    return size[0] * size[1] * size[2];
}

/* Groups of up to some 100 work-items, and few of them. Sizes that are powers of two are as likely as others. */
static struct nd_range random_range(struct rng *r)
{
    static const uint8_t most[3] = {96, 12, 5};
    struct nd_range range = {1 + rng_below(r, 3), {1, 1, 1}, {0}, {1, 1, 1}};
    for (uint32_t d = 0; d < range.dims; d++) {
        uint32_t limit = range.dims == 1 ? most[0] : range.dims == 2 ? most[1] : most[2];
        range.local[d] = rng_chance(r, 50) ? 1 + rng_below(r, limit) : 1u << rng_below(r, limit == 96 ? 7 : 3);
        range.global[d] = range.local[d] * (1 + rng_below(r, range.dims == 1 ? 3 : 2));
        if (rng_chance(r, 30)) range.global[d] -= rng_below(r, (uint32_t)range.local[d]);
        if (rng_chance(r, 20)) range.offset[d] = rng_below(r, 9);
    }
    return range;
}

/* ---- arguments ---- */

/* For each sub-group of each group, however large they are: blocks of all its work-items. */
static void add_blocks(struct steps *k, struct random_arg *a, uint64_t groups, enum ir_access access)
{
    parts_buffer(k, a);
    a->type = gen_int(&k->g);
    a->count = groups * (k->options.local_size + MOST_SUB_GROUP) * GROUPS_BLOCK;
    a->size = a->count * ir_type_size(k->g.m, a->type);
    a->access = access;
}

static void add_seen(struct steps *k, struct random_arg *a)
{
    parts_buffer(k, a);
    a->type = IR_I64;
    a->count = k->options.items;
    a->size = a->count * sizeof(int64_t);
    a->access = IR_ACCESS_WRITE;
}

static void make_args(struct steps *k, const struct nd_range *range)
{
    uint32_t scalars = below(k, 2), n = 0;
    uint64_t groups = 1;
    for (int d = 0; d < 3; d++) groups *= (range->global[d] + range->local[d] - 1) / range->local[d];
    k->args = calloc(k->options.buffers + scalars + 4, sizeof *k->args);
    if (!k->args) abort();
    while (n < k->options.buffers) parts_buffer(k, &k->args[n++]);
    k->args[0].access = IR_ACCESS_READ_WRITE; /* so that something comes in and something out */
    for (; scalars; scalars--) parts_scalar(k, &k->args[n++], steps_scalar(k));
    k->limit = k->inexact = UINT32_MAX;
    parts_local(k, &k->args[k->local = n++]);
    add_blocks(k, &k->args[k->block_in = n++], groups, IR_ACCESS_READ);
    add_blocks(k, &k->args[k->block_out = n++], groups, IR_ACCESS_WRITE);
    add_seen(k, &k->args[n++]);
    k->n_args = n;
}

/* ---- the body ---- */

/* Each work-item for itself, with operations of those that happen to be together. Nobody leaves. */
static void apart(struct steps *k)
{
    k->left = 1 + below(k, 3);
    steps_fill(k, 1);
}

static void sub_group_body(struct steps *k, uint32_t depth);

static void sub_group_part(struct steps *k, uint32_t depth)
{
    uint32_t choice = below(k, 10);
    if (choice < 3) {
        apart(k);
    } else if (choice < 8 || depth >= DEEPEST) {
        groups_sub_group(k);
    } else if (choice < 9) {
        control_if(k, groups_condition(k, IR_SCOPE_SUB_GROUP), sub_group_body, depth);
    } else {
        control_loop(k, groups_rounds(k, IR_SCOPE_SUB_GROUP), true, sub_group_body, depth);
    }
}

/* Where a whole sub-group is, but not the whole group. */
static void sub_group_body(struct steps *k, uint32_t depth)
{
    for (uint32_t n = 1 + chance(k, 25); n; n--) sub_group_part(k, depth);
}

static void work_group_body(struct steps *k, uint32_t depth);

static void work_group_part(struct steps *k, uint32_t depth)
{
    uint32_t choice = below(k, 12);
    if (choice < 2) {
        apart(k);
    } else if (choice < 5 || depth >= DEEPEST) {
        groups_work_group(k);
    } else if (choice < 7) {
        groups_sub_group(k);
    } else if (choice < 8) {
        control_if(k, groups_condition(k, IR_SCOPE_WORK_GROUP), work_group_body, depth);
    } else if (choice < 9) {
        control_loop(k, groups_rounds(k, IR_SCOPE_WORK_GROUP), true, work_group_body, depth);
    } else if (choice < 11) {
        control_if(k, groups_condition(k, IR_SCOPE_SUB_GROUP), sub_group_body, depth);
    } else {
        control_loop(k, groups_rounds(k, IR_SCOPE_SUB_GROUP), true, sub_group_body, depth);
    }
}

static void work_group_body(struct steps *k, uint32_t depth)
{
    for (uint32_t n = 1 + chance(k, 25); n; n--) work_group_part(k, depth);
}

static void make_body(struct steps *k, uint32_t parts)
{
    struct ir_builder *b = &k->g.b;
    *b = ir_builder_at_end(k->f->body);
    b->loc = (struct ir_loc){ir_module_file(k->g.m, "random.fk"), 1, 0};
    k->stays = true;
    k->id = gen_define(&k->g, ir_build0(b, IR_OP_GLOBAL_LINEAR_ID, IR_VOID));
    gen_define(&k->g, ir_build0(b, IR_OP_SUB_GROUP_LOCAL_ID, IR_VOID));
    k->seen = ir_build_ptr(b, IR_OP_VAR, IR_I64, IR_SPACE_PRIVATE, NULL, 0)->results[0];
    ir_build_store(b, IR_I64, k->seen, NULL, ir_const_int(k->g.m, IR_I64, 0));
    parts_load_all(k);
    for (; parts; parts--) work_group_part(k, 1);
    struct ir_value *seen = ir_build_load(b, IR_I64, k->seen, NULL);
    ir_build_store(b, IR_I64, k->f->params[k->n_args - 1].value, k->id, seen);
    k->stays = false;
    apart(k);
    parts_store_all(k);
    ir_build(b, IR_OP_RETURN, IR_VOID, NULL, 0);
}

/* Code for large ones is long in the making: they come seldom, and in small programs. */
static uint32_t random_size(struct rng *r)
{
    static const uint32_t sizes[] = {0, 1, 4, 8, 16, 0, 4, 4, 8, 8, 16, IR_SUB_GROUP_PRIMARY, IR_SUB_GROUP_AUTOMATIC};
    if (rng_chance(r, 8)) return rng_chance(r, 50) ? 32 : 64;
    return sizes[rng_below(r, sizeof sizes / sizeof *sizes)];
}

static bool is_large(uint32_t size)
{
    return size >= 32 && size < IR_SUB_GROUP_AUTOMATIC;
}

/* As plans have kernels whose work-items wait for each other. */
static void fix_groups(struct ir_function *kernel, const struct nd_range *range)
{
    for (unsigned d = 0; d < 3; d++) kernel->work_group_size[d] = (uint32_t)range->local[d];
    if (nd_range_has_whole_groups(range)) kernel->assumes |= IR_ASSUME_WHOLE_GROUPS;
}

struct random_spmd random_spmd(uint64_t seed)
{
    struct steps k = {.g = {.rng.state = seed, .executable = true}, .extra = groups_active};
    struct random_spmd p = {.range = random_range(&k.g.rng)};
    uint32_t size = random_size(&k.g.rng);
    k.options.items = volume_of(p.range.global);
    k.options.local_size = volume_of(p.range.local);
    k.options.buffers = 1;
    k.options.depth = DEEPEST;
    k.options.no_vectors = size == 0 || size > 8 || chance(&k, 70); /* of vectors for each lane much code is made */
    k.options.no_private = chance(&k, 80);
    k.g.m = ir_module_new("random");
    if (chance(&k, 8) && !is_large(size)) parts_helpers(&k);
    make_args(&k, &p.range);
    k.f = ir_function_new(k.g.m, "kernel", IR_LINKAGE_KERNEL, IR_VOID, k.n_args);
    k.f->sub_group_size = size;
    parts_params(&k);
    make_body(&k, is_large(size) ? 1 : 1 + below(&k, 3));
    gen_close(&k.g);
    if (seed % 2) fix_groups(k.f, &p.range);
    p.kernel = (struct random_kernel){k.g.m, k.f, k.options.items, false, k.n_args, k.args};
    return p;
}

void random_spmd_clear(struct random_spmd *p)
{
    random_kernel_clear(&p->kernel);
}
