/* Cases of where a work-item is in its sub-group, of barriers, and of the sizes that a kernel may ask for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/sub_group_case.h"

enum { N_IDS = 6, MOST_ITEMS = 1024 };

static struct interp_arg ints(int32_t *data, uint32_t n)
{
    return (struct interp_arg){.kind = INTERP_ARG_BUFFER, .data = data, .size = n * sizeof *data};
}

static const char ids_text[] =
    "kernel @k(%%o: ptr.global i32 write) %s {\n"
    "    %%i = global_linear_id\n    %%at = mul i64 %%i, 6\n    %%p = elem i32 %%o, %%at\n"
    "    %%v0 = sub_group_local_id\n    %%v1 = sub_group_size\n    %%v2 = sub_group_max_size\n"
    "    %%v3 = sub_group_id\n    %%v4 = num_sub_groups\n    %%v5 = enqueued_num_sub_groups\n"
    "    store i32 %%p[0], %%v0\n    store i32 %%p[1], %%v1\n    store i32 %%p[2], %%v2\n    store i32 %%p[3], %%v3\n"
    "    store i32 %%p[4], %%v4\n    store i32 %%p[5], %%v5\n}\n";

static uint32_t ceiling(uint32_t n, uint32_t d)
{
    return (n + d - 1) / d;
}

/* The ids of the work-item at a global id. */
static void expected_ids(const struct nd_range *r, const uint64_t at[3], uint32_t size, int32_t want[N_IDS])
{
    uint32_t items = 1, complete = 1, linear = 0;
    for (int d = 2; d >= 0; d--) {
        uint64_t group = at[d] / r->local[d], left = r->global[d] - group * r->local[d];
        uint32_t here = (uint32_t)(left < r->local[d] ? left : r->local[d]);
        linear = linear * here + (uint32_t)(at[d] % r->local[d]);
        items *= here;
        complete *= (uint32_t)r->local[d];
    }
    uint32_t id = linear / size, rest = items - id * size;
    const uint32_t ids[] = {linear % size,        rest < size ? rest : size, size, id,
                            ceiling(items, size), ceiling(complete, size)};
    for (int k = 0; k < N_IDS; k++) want[k] = (int32_t)ids[k];
}

static void check_ids(const struct sg_try *t, const struct nd_range *r, uint32_t size, const int32_t *out)
{
    uint64_t items = r->global[0] * r->global[1] * r->global[2];
    for (uint64_t i = 0; i < items; i++) {
        uint64_t at[3] = {i % r->global[0], i / r->global[0] % r->global[1], i / r->global[0] / r->global[1]};
        int32_t want[N_IDS];
        expected_ids(r, at, size, want);
        for (int k = 0; k < N_IDS; k++)
            if (want[k] != out[i * N_IDS + k])
                fail_msg("%s, size %u, way %u: id %d of work-item %llu is %d instead of %d", t->c->name, size, t->way,
                         k, (unsigned long long)i, out[i * N_IDS + k], want[k]);
    }
}

/* The size it ran with. */
static uint32_t run_ids(const struct sg_try *t, const char *name, const char *attribute, const struct nd_range *range)
{
    static int32_t out[MOST_ITEMS * N_IDS];
    char text[1024];
    snprintf(text, sizeof text, ids_text, attribute);
    struct interp_arg args[] = {ints(out, MOST_ITEMS * N_IDS)};
    uint32_t size = sg_execute(t, name, text, range, args);
    check_ids(t, range, size, out);
    return size;
}

/* In each number of dimensions, with groups that are and that are not a multiple of the size, and incomplete ones. */
void sg_run_ids(const struct sg_try *t)
{
    static const struct nd_range ranges[] = {
        {1, {128, 1, 1}, {0}, {64, 1, 1}}, {1, {50, 1, 1}, {0}, {21, 1, 1}}, {2, {16, 9, 1}, {0}, {8, 4, 1}},
        {2, {10, 7, 1}, {0}, {7, 5, 1}},   {3, {7, 5, 4}, {0}, {3, 3, 2}},
    };
    char attribute[32], name[16];
    if (!sg_takes(t, 1)) return;
    snprintf(attribute, sizeof attribute, "sub_group_size(%u)", t->size);
    snprintf(name, sizeof name, "ids_%u", t->size);
    for (unsigned i = 0; i < sizeof ranges / sizeof *ranges; i++)
        assert_int_equal(run_ids(t, name, attribute, &ranges[i]), t->size);
}

/* primary, automatic and none at all: the size is one of those there are. */
void sg_run_sizes(const struct sg_try *t)
{
    static const char *const attributes[] = {"sub_group_size(primary)", "sub_group_size(automatic)", ""};
    static const char *const names[] = {"sizes_primary", "sizes_automatic", "sizes"};
    static const struct nd_range range = {1, {70, 1, 1}, {0}, {35, 1, 1}};
    if (!sg_takes(t, 1)) return;
    for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        uint32_t size = run_ids(t, names[i], attributes[i], &range);
        assert_true(size && size <= 64 && (size & (size - 1)) == 0);
    }
}

/* Each puts its number into local memory and takes that of the next one of its sub-group, three times over. */
void sg_run_barrier(const struct sg_try *t)
{
    if (!sg_takes(t, 1)) return;
    struct sg_launch l = sg_launch_of(t, 1);
    int32_t *out = calloc(l.global, sizeof *out);
    assert_non_null(out);
    struct interp_arg args[] = {ints(out, l.global), {.kind = INTERP_ARG_LOCAL, .size = l.local * sizeof *out}};
    char text[2048];
    snprintf(text, sizeof text,
             "kernel @k(%%o: ptr.global i32 write, %%s: ptr.local i32) sub_group_size(%u) {\n%s"
             "    %%id = sub_group_local_id\n    %%n = sub_group_size\n    %%more = add i32 %%id, 1\n"
             "    %%next = urem i32 %%more, %%n\n    %%step = sub i32 %%next, %%id\n    %%far = sext i64 %%step\n"
             "    %%other = add i64 %%l, %%far\n    %%start = trunc i32 %%i\n"
             "    %%end = loop (%%round: i32 = 0, %%v: i32 = %%start) -> i32 {\n"
             "        %%last = ieq i32 %%round, 3\n        if %%last { break %%v\n }\n"
             "        store i32 %%s[%%l], %%v\n        barrier sub_group, local\n        %%w = load i32 %%s[%%other]\n"
             "        barrier sub_group, local\n        %%r = add i32 %%round, 1\n        continue %%r, %%w\n    }\n"
             "    store i32 %%o[%%i], %%end\n}\n",
             t->size, sg_number_text);
    struct nd_range range = sg_range_of(&l);
    char name[16];
    snprintf(name, sizeof name, "barrier_%u", t->size);
    sg_execute(t, name, text, &range, args);
    for (uint32_t i = 0; i < l.global; i++) {
        struct sg_place p = sg_place(&l, i);
        assert_int_equal(out[i], p.first + (p.id + 3) % p.n);
    }
    free(out);
}
