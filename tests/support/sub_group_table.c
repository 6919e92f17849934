/* The list of cases of sub-group functions, and running one: text to kernel, data, sizes, ways. */
#include "tests/support/sub_group_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/core/float.h"
#include "ir/text/parse/parse.h"
#include "tests/support/rng.h"
#include "tests/support/sub_group_case.h"

enum { MAX_CASES = 256 };

static const struct sg_type types[] = {
    {"char", IR_I8, true},  {"uchar", IR_I8, false}, {"short", IR_I16, true},  {"ushort", IR_I16, false},
    {"int", IR_I32, true},  {"uint", IR_I32, false}, {"long", IR_I64, true},   {"ulong", IR_I64, false},
    {"half", IR_F16, true}, {"float", IR_F32, true}, {"double", IR_F64, true},
};

static const uint32_t sizes[] = {1, 4, 8, 16, 32, 64};

/* ---- the list ---- */

/* One of each work-item's own, and one that is the same for the sub-group. */
#define RUN_TIME_DISTANCES                                                                                             \
    "    %five = mul i32 %id, 5\n    %own = urem i32 %five, %max\n    %sub = sub_group_id\n    %same = add i32 %sub, " \
    "1\n"

static const struct sg_family families[] = {
    {"broadcast", 1, true, false, sg_run_values, sg_broadcast,
     "    %five = urem i32 5, %n\n    %r0 = group_broadcast {T} %x, %five, sub_group\n"
     "    %sub = sub_group_id\n    %own = urem i32 %sub, %n\n    %r1 = group_broadcast {T} %x, %own, sub_group\n"},
    {"reduce", 1, true, false, sg_run_reductions, sg_reduce, "group_reduce"},
    {"scan_inclusive", 1, true, false, sg_run_reductions, sg_scan_inclusive, "group_scan_incl"},
    {"scan_exclusive", 1, true, false, sg_run_reductions, sg_scan_exclusive, "group_scan_excl"},
    {"shuffle", 16, true, false, sg_run_values, sg_shuffle,
     "    %three = mul i32 %id, 3\n    %more = add i32 %three, 1\n    %from = urem i32 %more, %n\n"
     "    %r0 = sub_group_shuffle {T} %x, %from\n    %r1 = sub_group_shuffle_xor {T} %x, 1\n"
     "    %half = lshr i32 %max, 1\n    %r2 = sub_group_shuffle_xor {T} %x, %half\n"
     "    %sub = sub_group_id\n    %next = add i32 %sub, 1\n    %mask = urem i32 %next, %max\n"
     "    %r3 = sub_group_shuffle_xor {T} %x, %mask\n"},
    {"shuffle_up", 16, true, false, sg_run_values, sg_shuffle_up,
     "    %r0 = sub_group_shuffle_up {T} %x, %y, 1\n    %r1 = sub_group_shuffle_up {T} %x, %y, 3\n"
     "    %r2 = sub_group_shuffle_up {T} %x, %y, %max\n" RUN_TIME_DISTANCES
     "    %r3 = sub_group_shuffle_up {T} %x, %y, %own\n    %r4 = sub_group_shuffle_up {T} %x, %y, %same\n"},
    {"shuffle_down", 16, true, false, sg_run_values, sg_shuffle_down,
     "    %r0 = sub_group_shuffle_down {T} %x, %y, 1\n    %r1 = sub_group_shuffle_down {T} %x, %y, 3\n"
     "    %r2 = sub_group_shuffle_down {T} %x, %y, %max\n" RUN_TIME_DISTANCES
     "    %r3 = sub_group_shuffle_down {T} %x, %y, %own\n    %r4 = sub_group_shuffle_down {T} %x, %y, %same\n"},
    {"rotate", 16, true, false, sg_run_values, sg_rotate,
     "    %r0 = sub_group_rotate {T} %x, 1\n    %r1 = sub_group_rotate {T} %x, 5\n"},
    {"block_read", 16, true, true, sg_run_block_read, NULL, NULL},
    {"block_write", 16, true, true, sg_run_block_write, NULL, NULL},
    {"image_block_read", 16, true, true, sg_run_image_read, NULL, NULL},
    {"image_block_write", 16, true, true, sg_run_image_write, NULL, NULL},
    {"ids", 1, false, false, sg_run_ids, NULL, NULL},
    {"barrier", 1, false, false, sg_run_barrier, NULL, NULL},
    {"sizes", 1, false, false, sg_run_sizes, NULL, NULL},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

static bool belongs(const struct sg_family *f, const struct sg_type *t)
{
    if (!f->typed) return t == types;
    return !f->ints_only || (!ir_type_is_float(t->type) && !t->is_signed);
}

static unsigned list_cases(struct sg_case *cases)
{
    unsigned n = 0;
    for (unsigned f = 0; f < N_FAMILIES; f++)
        for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
            if (!belongs(&families[f], &types[i]) || n == MAX_CASES) continue;
            struct sg_case *c = &cases[n];
            *c = (struct sg_case){.number = n, .family = &families[f], .type = types[i]};
            snprintf(c->name, sizeof c->name, "%s%s%s", families[f].name, families[f].typed ? "_" : "",
                     families[f].typed ? types[i].name : "");
            n++;
        }
    return n;
}

const char *sub_group_table_name(unsigned number)
{
    static struct sg_case cases[MAX_CASES];
    return number < list_cases(cases) ? cases[number].name : NULL;
}

bool sub_group_table_has(const char *name)
{
    const char *other = NULL;
    for (unsigned i = 0; (other = sub_group_table_name(i)) && strcmp(other, name) != 0;) i++;
    return other;
}

/* ---- data ---- */

unsigned sg_bytes(const struct sg_type *t)
{
    return ir_type_bits(t->type) / 8;
}

unsigned sg_stride(unsigned lanes)
{
    return lanes == 3 ? 4 : lanes;
}

static uint64_t random_float(struct rng *r, enum ir_kind kind)
{
    static const double values[] = {1, -1, 1, -1, 1, 2, 0.5, -1};
    return ir_float_bits(kind, values[rng_below(r, 8)]);
}

void sg_fill(const struct sg_type *t, uint64_t seed, uint64_t *values, uint32_t n)
{
    struct rng r = {seed};
    for (uint32_t i = 0; i < n; i++)
        values[i] = ir_type_is_float(t->type) ? random_float(&r, ir_type_kind(t->type))
                                              : rng_next(&r) >> (64 - ir_type_bits(t->type));
}

void *sg_pack(const struct sg_type *t, unsigned lanes, const uint64_t *values, uint32_t items)
{
    unsigned bytes = sg_bytes(t), stride = sg_stride(lanes);
    uint8_t *memory = calloc((size_t)items * stride + 1, bytes);
    assert_non_null(memory);
    for (uint32_t i = 0; i < items; i++)
        for (unsigned lane = 0; lane < lanes; lane++)
            memcpy(memory + ((size_t)i * stride + lane) * bytes, &values[i * lanes + lane], bytes);
    return memory;
}

uint64_t sg_get(const struct sg_type *t, const void *memory, uint64_t index)
{
    uint64_t v = 0;
    memcpy(&v, (const uint8_t *)memory + index * sg_bytes(t), sg_bytes(t));
    return v;
}

/* ---- running ---- */

const char sg_number_text[] = "    %l = local_id x\n    %g = group_id x\n    %in_group = enqueued_local_size x\n"
                              "    %before = mul i64 %g, %in_group\n    %i = add i64 %before, %l\n";

struct sg_launch sg_launch_of(const struct sg_try *t, unsigned lanes)
{
    uint32_t local = 2 * t->size + t->size / 2 + 1;
    return (struct sg_launch){
        .size = t->size, .local = local, .global = 2 * local - 1, .lanes = lanes, .type = t->c->type};
}

struct nd_range sg_range_of(const struct sg_launch *l)
{
    return (struct nd_range){1, {l->global, 1, 1}, {0}, {l->local, 1, 1}};
}

bool sg_takes(const struct sg_try *t, unsigned lanes)
{
    return !t->runner->takes || t->runner->takes(t->way, t->c->number, t->size, lanes);
}

const char *sg_name(const struct sg_try *t, unsigned lanes)
{
    static char name[64];
    snprintf(name, sizeof name, lanes > 1 ? "%s%u" : "%s", t->c->name, lanes);
    return name;
}

static struct ir_module *parse(const char *text)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), "table.fk", &list);
    if (!m) {
        char *why = diag_format(&list);
        print_error("%s\n%s\n", why, text);
        free(why);
    }
    diag_clear(&list);
    assert_non_null(m);
    return m;
}

uint32_t sg_execute(const struct sg_try *t, const char *name, const char *text, const struct nd_range *range,
                    const struct interp_arg *args)
{
    struct ir_module *m = t->runner->kernel ? NULL : parse(text);
    const struct ir_function *kernel = m ? ir_module_find(m, "k") : t->runner->kernel(t->way, name, t->size);
    uint32_t size = t->size;
    if (!kernel) fail_msg("way %u has no kernel %s", t->way, name);
    bool ran = t->runner->run(t->way, kernel, range, args, &size);
    ir_module_free(m);
    if (!ran) print_error("%s, size %u, way %u\n%s\n", name, t->size, t->way, text);
    assert_true(ran);
    return size;
}

static const struct sub_group_runner *the_runner; /* what cmocka passes on is the case */

static void run_tries(void **state)
{
    const struct sg_case *c = *state;
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned way = 0; way < the_runner->ways; way++) {
            struct sg_try t = {c, the_runner, way, sizes[s]};
            c->family->run(&t);
        }
}

int sub_group_table_main(const struct sub_group_runner *runner)
{
    static struct sg_case cases[MAX_CASES];
    static struct CMUnitTest tests[MAX_CASES];
    unsigned n = list_cases(cases);
    the_runner = runner;
    for (unsigned i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){.name = cases[i].name, .test_func = run_tries, .initial_state = &cases[i]};
    return _cmocka_run_group_tests(runner->program, tests, n, NULL, NULL);
}
