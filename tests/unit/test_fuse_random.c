/* Random kernels fused: the fused kernel leaves in memory what its parts leave one after another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/merge/merge.h"
#include "ir/base/arena.h"
#include "ir/interp/interp.h"
#include "ir/text/print/print.h"
#include "tests/support/cases.h"
#include "tests/support/random_kernel.h"
#include "tests/support/rng.h"

enum { ITEMS = 16, LOCAL = 4, MAX_KERNELS = 5, MAX_ARGS = 16, MAX_PARAMS = MAX_KERNELS * MAX_ARGS, MAX_EACH = 16 };

/* Where a buffer that loses its memory goes. */
enum home { ONE_VARIABLE, VARIABLES, ARRAY, WORK_GROUP, HOMES };

struct scene {
    struct rng rng;
    uint32_t n_kernels;
    struct random_kernel kernels[MAX_KERNELS];
    uint32_t n_params;
    struct random_arg args[MAX_PARAMS]; /* of the fused kernel */
    uint64_t per_item[MAX_PARAMS];      /* elements of a buffer that belong to one work-item */
    struct fuse_param params[MAX_PARAMS];
    struct fuse_slice slices[MAX_PARAMS][MAX_EACH];
    unsigned n_homes[HOMES];
    bool meets; /* some kernel has barriers */
    char names[MAX_PARAMS][8];
    struct ir_module *init; /* kernels that write what becomes private before the others run */
    struct fuse_request request;
    struct fuse_part parts[MAX_KERNELS + MAX_PARAMS];
    uint32_t maps[MAX_KERNELS][MAX_ARGS], init_maps[MAX_PARAMS][1];
    bool kept[MAX_PARAMS];
    char why[400];
};

/* ---- making one ---- */

static struct nd_range range_of(uint64_t items)
{
    return (struct nd_range){.dims = 1, .global = {items, 1, 1}, .local = {LOCAL, 1, 1}};
}

static uint32_t new_param(struct scene *s, const struct random_arg *arg, uint64_t per_item)
{
    uint32_t i = s->n_params++;
    snprintf(s->names[i], sizeof s->names[i], "p%u", i);
    s->args[i] = *arg;
    s->per_item[i] = per_item;
    s->params[i] = (struct fuse_param){.name = s->names[i], .type = arg->type, .elem = arg->type};
    if (arg->kind == RANDOM_SCALAR) return i;
    s->params[i].type = IR_PTR(arg->kind == RANDOM_LOCAL ? IR_SPACE_LOCAL : IR_SPACE_GLOBAL);
    s->params[i].access = IR_ACCESS_READ_WRITE;
    return i;
}

/* A buffer of a kernel before, where a work-item owns the same elements of it; else a parameter of its own. */
static uint32_t choose_param(struct scene *s, const struct random_kernel *k, const struct random_arg *arg)
{
    uint64_t per_item = arg->count / k->items;
    for (uint32_t i = 0; i < s->n_params && arg->kind == RANDOM_BUFFER; i++) {
        struct random_arg *other = &s->args[i];
        if (other->kind != RANDOM_BUFFER || other->type != arg->type || s->per_item[i] != per_item) continue;
        if (!rng_chance(&s->rng, 70)) continue;
        if (other->size < arg->size) other->size = arg->size;
        if (other->count < arg->count) other->count = arg->count;
        return i;
    }
    return new_param(s, arg, per_item);
}

static void add_kernel(struct scene *s, uint64_t seed)
{
    bool small = rng_chance(&s->rng, 30);
    struct random_kernel_options options = {.items = small ? 2 + rng_below(&s->rng, ITEMS - 1) : ITEMS,
                                            .instructions = 20,
                                            .no_vectors = rng_chance(&s->rng, 60),
                                            .no_f16 = true,
                                            .local_size = !small && rng_chance(&s->rng, 20) ? LOCAL : 0};
    s->meets |= options.local_size != 0;
    uint32_t n = s->n_kernels++;
    struct random_kernel *k = &s->kernels[n];
    *k = random_kernel(seed, &options);
    assert_true(k->n_args <= MAX_ARGS);
    for (uint32_t i = 0; i < k->n_args; i++) s->maps[n][i] = choose_param(s, k, &k->args[i]);
}

/* A kernel that stores something to each element of parameter `param`, at the places its work-item has. */
static void add_init(struct scene *s, uint32_t param)
{
    ir_type t = s->params[param].elem;
    struct ir_function *f = ir_function_new(s->init, s->names[param], IR_LINKAGE_KERNEL, IR_VOID, 1);
    ir_function_set_param(f, 0, "o", IR_PTR(IR_SPACE_GLOBAL));
    struct ir_builder b = ir_builder_at_end(f->body);
    struct ir_value *v = ir_type_is_float(t) ? ir_const_float(s->init, t, 1.5) : ir_const_int(s->init, t, 5);
    struct ir_value *id = ir_build_id(&b, IR_OP_GLOBAL_ID, 0);
    struct ir_value *start = ir_build2(&b, IR_OP_MUL, IR_I64, id, ir_const_int(s->init, IR_I64, s->per_item[param]));
    for (uint64_t k = 0; k < s->per_item[param]; k++) {
        struct ir_value *at = ir_build2(&b, IR_OP_ADD, IR_I64, start, ir_const_int(s->init, IR_I64, k));
        ir_build_store(&b, t, f->params[0].value, at, v);
    }
    ir_build(&b, IR_OP_RETURN, IR_VOID, NULL, 0);
    s->init_maps[param][0] = param;
    s->parts[s->request.n_parts++] = (struct fuse_part){f, range_of(ITEMS), s->init_maps[param]};
}

static void set_home(struct scene *s, uint32_t param, enum home home)
{
    struct fuse_param *p = &s->params[param];
    uint64_t each = s->per_item[param], size = ir_type_size(s->init, p->elem);
    s->n_homes[home]++;
    p->storage = home == WORK_GROUP ? FUSER_STORAGE_LOCAL : FUSER_STORAGE_PRIVATE;
    p->local_bytes = LOCAL * each * size;
    p->slices = s->slices[param];
    if (home == VARIABLES) p->n_slices = (uint32_t)each;
    if (home == ARRAY) p->n_slices = 1;
    for (uint64_t k = 0; k < p->n_slices; k++)
        s->slices[param][k] = (struct fuse_slice){(int64_t)(k * size), p->elem, size, home == ARRAY ? each : 1};
}

/* A work-item owns neighbouring elements of each buffer: any home will do. */
static void choose_homes(struct scene *s)
{
    bool linear = s->request.range.dims > 1;
    for (uint32_t i = 0; i < s->n_params; i++) {
        uint64_t each = s->per_item[i];
        if (s->args[i].kind != RANDOM_BUFFER || each == 0 || each > MAX_EACH || !rng_chance(&s->rng, 40)) continue;
        enum home home = (enum home)rng_below(&s->rng, HOMES);
        if (home == ONE_VARIABLE && each > 1) home = VARIABLES;
        if (home == WORK_GROUP && linear) home = ARRAY;
        set_home(s, i, home);
        s->args[i].count = ITEMS * each;
        if (s->args[i].size < ITEMS * each * ir_type_size(s->init, s->args[i].type))
            s->args[i].size = ITEMS * each * ir_type_size(s->init, s->args[i].type);
        add_init(s, i);
    }
}

static struct scene *scene_new(uint64_t seed)
{
    struct scene *s = calloc(1, sizeof *s);
    s->rng.state = seed;
    s->init = ir_module_new("init");
    for (uint32_t n = 2 + rng_below(&s->rng, MAX_KERNELS - 1), i = 0; i < n; i++) add_kernel(s, seed * 16 + i);
    s->request.range = range_of(ITEMS);
    if (!s->meets && rng_chance(&s->rng, 30)) s->request.range = (struct nd_range){2, {8, 2, 1}, {0, 3, 0}, {4, 1, 1}};
    choose_homes(s);
    for (uint32_t i = 0; i < s->n_kernels; i++)
        s->parts[s->request.n_parts++] =
            (struct fuse_part){s->kernels[i].function, range_of(s->kernels[i].items), s->maps[i]};
    s->request.name = "fused";
    s->request.n_params = s->n_params;
    s->request.params = s->params;
    s->request.parts = s->parts;
    bool barriers = rng_chance(&s->rng, 30);
    for (uint32_t i = 0; i < s->n_kernels; i++) s->parts[i].barrier = barriers;
    return s;
}

static void scene_free(struct scene *s)
{
    for (uint32_t i = 0; i < s->n_kernels; i++) random_kernel_clear(&s->kernels[i]);
    ir_module_free(s->init);
    free(s);
}

/* ---- running ---- */

static void fill(const struct scene *s, uint64_t seed, void **memory)
{
    for (uint32_t i = 0; i < s->n_params; i++) {
        memory[i] = memset(arena_realloc(NULL, s->args[i].size + 1), 0, s->args[i].size + 1);
        if (s->args[i].kind == RANDOM_BUFFER) random_kernel_fill(&s->args[i], seed + i, memory[i]);
    }
}

static struct interp_arg argument(const struct scene *s, uint32_t param, void **memory)
{
    const struct random_arg *a = &s->args[param];
    struct interp_arg arg = {.kind = INTERP_ARG_BUFFER, .data = memory[param], .size = a->size};
    if (a->kind == RANDOM_SCALAR)
        arg = (struct interp_arg){.kind = INTERP_ARG_BYTES, .data = (void *)a->value, .size = a->size};
    if (a->kind == RANDOM_LOCAL) arg = (struct interp_arg){.kind = INTERP_ARG_LOCAL, .size = a->size};
    return arg;
}

static void run(const struct ir_function *f, const struct nd_range *range, const struct interp_arg *args, uint64_t seed)
{
    struct nd_range r = {.dims = range->dims, .local = {LOCAL, 1, 1}};
    memcpy(r.global, range->global, sizeof r.global);
    memcpy(r.offset, range->offset, sizeof r.offset);
    struct interp_options options = {.sub_group_size = 4, .check_races = true, .check_unwritten = true};
    struct interp_result result = {0};
    int rc = interp_run(f, &r, args, &options, &result);
    if (rc || result.n_findings || !result.completed)
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, result.n_findings ? result.findings[0].text : "?",
                 ir_print_function(f));
    interp_result_clear(&result);
}

static void run_parts(const struct scene *s, void **memory, uint64_t seed)
{
    struct interp_arg args[MAX_PARAMS];
    for (uint32_t p = 0; p < s->request.n_parts; p++) {
        const struct fuse_part *part = &s->parts[p];
        for (uint32_t i = 0; i < part->kernel->n_params; i++) args[i] = argument(s, part->params[i], memory);
        run(part->kernel, &part->range, args, seed);
    }
}

static void run_fused(const struct scene *s, const struct ir_function *f, void **memory, uint64_t seed)
{
    struct interp_arg args[MAX_PARAMS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_params; i++)
        if (s->kept[i]) args[n++] = argument(s, i, memory);
    assert_int_equal(n, f->n_params);
    run(f, &s->request.range, args, seed);
}

static void compare(const struct scene *s, const struct ir_function *f, uint64_t seed)
{
    void *apart[MAX_PARAMS], *together[MAX_PARAMS];
    fill(s, seed, apart);
    fill(s, seed, together);
    run_parts(s, apart, seed);
    run_fused(s, f, together, seed);
    for (uint32_t i = 0; i < s->n_params; i++) {
        bool counts = s->args[i].kind == RANDOM_BUFFER && s->params[i].storage == FUSER_STORAGE_MEMORY;
        if (counts && random_kernel_compare(&s->args[i], apart[i], together[i], 0) >= 0)
            fail_msg("seed %llu: parameter %u differs\n%s", (unsigned long long)seed, i, ir_print_function(f));
        free(apart[i]);
        free(together[i]);
    }
}

/* Counts the homes of buffers, and launches in which ids are made of linear ids. */
static void check(uint64_t seed, unsigned n_homes[HOMES], unsigned *n_linear)
{
    struct scene *s = scene_new(seed);
    struct ir_module *m = fuse_kernels(&s->request, s->kept, s->why, sizeof s->why);
    if (!m) fail_msg("seed %llu: %s", (unsigned long long)seed, s->why);
    assert_int_equal(m->n_functions, 1);
    compare(s, m->functions[0], seed);
    for (unsigned i = 0; i < HOMES; i++) n_homes[i] += s->n_homes[i];
    *n_linear += s->request.range.dims > 1;
    ir_module_free(m);
    scene_free(s);
}

static void fused_random_kernels_compute_the_same(void **state)
{
    (void)state;
    unsigned n_homes[HOMES] = {0}, n_linear = 0;
    for (uint64_t seed = 0; seed < test_cases(300); seed++) check(seed, n_homes, &n_linear);
    print_message(
        "# %u buffers in one variable, %u in several, %u in arrays, %u in work-group memory; %u in linear ids\n",
        n_homes[ONE_VARIABLE], n_homes[VARIABLES], n_homes[ARRAY], n_homes[WORK_GROUP], n_linear);
    for (unsigned i = 0; i < HOMES; i++) assert_true(n_homes[i] > 0);
    assert_true(n_linear > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_random_kernels_compute_the_same),
    };
    return cmocka_run_group_tests_name("fuse_random", tests, NULL, NULL);
}
