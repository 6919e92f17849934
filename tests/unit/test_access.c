/* Access analysis: what is found of each access, who owns an element, which accesses meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/access/access.h"
#include "fuser/access/dependence.h"
#include "fuser/access/footprint.h"
#include "ir/text/parse/parse.h"
#include "tests/support/graph_make.h"
#include "tests/support/rng.h"

/* A kernel with the parameters %a (f32), %b (i32), %n (i64), %m (i32), analysed. */
struct analysed {
    struct ir_module *module;
    struct access_analysis *access;
    struct nd_range range;
};

static struct analysed analyse(const char *body, struct nd_range range)
{
    struct analysed out = {.range = range};
    char *text;
    struct diag_list list = {0};
    assert_true(asprintf(&text, "%s kernel @k(%%a: ptr.global f32, %%b: ptr.global i32, %%n: i64, %%m: i32) {\n%s\n}\n",
                         "struct cell { x: f32, y: f32 }\n"
                         "constant @table: [2 x ptr.constant] = { @table, @table + 8 }\n"
                         "func @at(%p: ptr.global f32, %i: i64) -> f32 {\n %x = load f32 %p[%i]\n return %x\n}\n",
                         body) > 0);
    out.module = ir_parse(text, strlen(text), "test.fk", &list);
    if (!out.module) fail_msg("%s%s", diag_format(&list), text);
    free(text);
    out.access = access_analyse(ir_module_find(out.module, "k"), &range, 0, false, NULL);
    return out;
}

static void clear(struct analysed *a)
{
    access_analysis_free(a->access);
    ir_module_free(a->module);
}

/* The only site of %a, by its sum: constant, factors of the global ids. */
static void expect_index(const char *body, struct nd_range range, int64_t constant, int64_t x, int64_t y)
{
    struct analysed a = analyse(body, range);
    const struct access_summary *s = &a.access->params[0];
    assert_int_equal(s->n_sites, 1);
    assert_true(affine_is_exact(&s->sites[0].index));
    assert_int_equal(s->sites[0].index.constant, constant);
    assert_int_equal(s->sites[0].index.factor[AFFINE_GLOBAL], x);
    assert_int_equal(s->sites[0].index.factor[AFFINE_GLOBAL + 1], y);
    clear(&a);
}

static void expect_owned(const char *body, struct nd_range range, bool owned)
{
    struct analysed a = analyse(body, range);
    if (footprint_is_owned_by_item(&a.access->params[0], &a.range) != owned)
        fail_msg("%s: owned is not %d", body, owned);
    clear(&a);
}

#define STORE_AT_J "store f32 %a[%j], 1.0"

static void sums_of_ids(void **state)
{
    (void)state;
    struct nd_range r = test_range(64, 0), plane = test_range_2d(16, 4);
    expect_index("%j = global_id x\n" STORE_AT_J, r, 0, 4, 0);
    expect_index("%i = global_id x\n%k = mul i64 %i, 3\n%j = add i64 %k, 5\n" STORE_AT_J, r, 20, 12, 0);
    expect_index("%i = global_id x\n%k = shl i64 %i, 2\n%j = or i64 %k, 3\n" STORE_AT_J, r, 12, 16, 0);
    expect_index("%i = global_id x\n%k = neg i64 %i\n%j = sub i64 %k, -63\n" STORE_AT_J, r, 252, -4, 0);
    expect_index(
        "%x = global_id x\n%y = global_id y\n%w = global_size x\n%q = mul i64 %w, %y\n%j = add i64 %q, %x\n" STORE_AT_J,
        plane, 0, 4, 64);
    expect_index("%j = global_linear_id\n" STORE_AT_J, plane, 0, 4, 64);
    expect_index("%i = global_id x\n%t = trunc i32 %i\n%u = add i32 %t, 1\n%j = zext i64 %u\n" STORE_AT_J, r, 4, 4, 0);
    expect_index("%i = global_id x\n%p = elem struct cell %a, %i\n%q = field struct cell %p, y\nstore f32 %q, 1.0", r,
                 4, 8, 0);
    expect_index("%i = global_id x\n%v = call @at(%a, %i)", r, 0, 4, 0);
    expect_index("%i = global_id x\n%k = mul i64 %i, 6\n%j = udiv i64 %k, 3\n" STORE_AT_J, r, 0, 8, 0);
    expect_index("%i = global_id x\n%j = urem i64 %i, 64\n" STORE_AT_J, r, 0, 4, 0);
    expect_index("%i = global_id x\n%j = smin i64 %i, 63\n" STORE_AT_J, r, 0, 4, 0);
}

static void offsets_count(void **state)
{
    (void)state;
    struct nd_range r = test_range(64, 0);
    r.offset[0] = 100;
    expect_index("%j = global_linear_id\n" STORE_AT_J, r, -400, 4, 0);
    expect_index("%i = global_id x\n%o = global_offset x\n%j = sub i64 %i, %o\n" STORE_AT_J, r, -400, 4, 0);
}

/* An id cut to i32 is only itself while the range fits; in i8, 200 is negative. */
static void narrow_ids_wrap(void **state)
{
    (void)state;
    const char *to_i32 = "%i = global_id x\n%t = trunc i32 %i\n%j = sext i64 %t\n" STORE_AT_J;
    const char *to_i8 = "%i = global_id x\n%t = trunc i8 %i\n%j = sext i64 %t\n" STORE_AT_J;
    expect_owned(to_i32, test_range(1 << 20, 0), true);
    expect_owned(to_i32, test_range((uint64_t)1 << 33, 0), false);
    expect_owned(to_i8, test_range(128, 0), true);
    expect_owned(to_i8, test_range(200, 0), false);
    expect_owned("%i = global_id x\n%t = trunc i32 %i\n%s = mul i32 %t, 65536\n%j = sext i64 %s\n" STORE_AT_J,
                 test_range(32768, 0), true);
    expect_owned("%i = global_id x\n%t = trunc i32 %i\n%s = mul i32 %t, 65536\n%j = sext i64 %s\n" STORE_AT_J,
                 test_range(65537, 0), false);
}

static void ownership(void **state)
{
    (void)state;
    struct nd_range r = test_range(64, 0), plane = test_range_2d(16, 4);
    expect_owned("%j = global_id x\n" STORE_AT_J, r, true);
    expect_owned("%i = global_id x\n%j = shl i64 %i, 1\n" STORE_AT_J, r, true);
    expect_owned("%i = global_id x\n%j = lshr i64 %i, 1\n" STORE_AT_J, r, false);
    expect_owned("%i = global_id x\n%j = and i64 %i, 31\n" STORE_AT_J, r, false);
    expect_owned("store f32 %a, 1.0", r, false);
    expect_owned("%j = global_id x\n" STORE_AT_J, plane, false);
    expect_owned("%j = global_id x\n" STORE_AT_J, test_range_2d(16, 1), true);
    /* y * 16 + x over 16 x 4, and over 17 x 4 where rows overlap */
    const char *rows = "%x = global_id x\n%y = global_id y\n%q = mul i64 %y, 16\n%j = add i64 %q, %x\n" STORE_AT_J;
    expect_owned(rows, plane, true);
    expect_owned(rows, test_range_2d(17, 4), false);
    /* an f32x4 at each float overlaps its neighbours */
    expect_owned("%i = global_id x\n%p = elem f32 %a, %i\n%v = splat f32x4 1.0\nstore f32x4 %p, %v", r, false);
    expect_owned("%i = global_id x\n%p = elem f32x4 %a, %i\n%v = splat f32x4 1.0\nstore f32x4 %p, %v", r, true);
    /* i and i + 64: two elements, each of one work-item; i and i + 1: not */
    expect_owned("%i = global_id x\n%j = add i64 %i, 64\n" STORE_AT_J "\nstore f32 %a[%i], 2.0", r, true);
    expect_owned("%i = global_id x\n%j = add i64 %i, 1\n" STORE_AT_J "\nstore f32 %a[%i], 2.0", r, false);
    /* a scalar moves all alike; multiplied by the id it does not */
    expect_owned("%i = global_id x\n%j = add i64 %i, %n\n" STORE_AT_J, r, true);
    expect_owned("%i = global_id x\n%s = sext i64 %m\n%j = add i64 %i, %s\n" STORE_AT_J, r, true);
    expect_owned("%i = global_id x\n%j = mul i64 %i, %n\n" STORE_AT_J, r, false);
    /* something from memory */
    expect_owned("%i = global_id x\n%w = load i32 %b[%i]\n%j = sext i64 %w\n" STORE_AT_J, r, false);
}

static void local_ids(void **state)
{
    (void)state;
    const char *reversed = "%l = local_id x\n%g = group_id x\n%b0 = mul i64 %g, 16\n%r = sub i64 15, %l\n%j = add i64 "
                           "%b0, %r\n" STORE_AT_J;
    expect_owned(reversed, test_range(64, 16), true);
    expect_owned(reversed, test_range(64, 32), false);
    expect_owned(reversed, test_range(64, 0), false);
    const char *by_size =
        "%l = local_id x\n%g = group_id x\n%s = local_size x\n%q = mul i64 %g, %s\n%j = add i64 %q, %l\n" STORE_AT_J;
    expect_owned(by_size, test_range(64, 16), true);
    expect_owned(by_size, test_range(70, 16), false); /* the last group is smaller */
    expect_owned("%j = local_id x\n" STORE_AT_J, test_range(64, 16), false);
    expect_owned("%j = local_id x\n" STORE_AT_J, test_range(16, 16), true);
}

static void loops(void **state)
{
    (void)state;
    struct nd_range r = test_range(64, 0);
#define ROW(limit, compare)                                                                                            \
    "%i = global_id x\n%r = mul i64 %i, 8\nloop (%k: i64 = 0) {\n%c = " compare " i64 %k, " limit "\n"                 \
    "if %c {\n%j = add i64 %r, %k\nstore f32 %a[%j], 1.0\n%n1 = add i64 %k, 1\ncontinue %n1\n} else "                  \
    "{\nbreak\n}\nunreachable\n}"
    expect_owned(ROW("8", "ult"), r, true);
    expect_owned(ROW("9", "ult"), r, false);
    expect_owned(ROW("7", "sle"), r, true);
    expect_owned(ROW("8", "sle"), r, false);
    expect_owned(ROW("8", "ine"), r, true);
    expect_owned(ROW("%n", "ult"), r, false);
    /* tested at the end: clang's form */
#define ROTATED(limit)                                                                                                 \
    "%i = global_id x\n%r = mul i64 %i, 8\nloop (%k: i64 = 0) {\n%j = add i64 %r, %k\nstore f32 %a[%j], 1.0\n"         \
    "%n1 = add i64 %k, 1\n%c = ieq i64 %n1, " limit "\nif %c {\nbreak\n} else {\ncontinue %n1\n}\nunreachable\n}"
    expect_owned(ROTATED("8"), r, true);
    expect_owned(ROTATED("9"), r, false);
    expect_owned(ROTATED("0"), r, false);
    /* counts by 3 past an exact limit: never ends, and leaves its row */
    expect_owned(
        "%i = global_id x\n%r = mul i64 %i, 8\nloop (%k: i64 = 0) {\n%c = ine i64 %k, 8\nif %c {\n%j = add i64 %r, %k\n"
        "store f32 %a[%j], 1.0\n%n1 = add i64 %k, 3\ncontinue %n1\n} else {\nbreak\n}\nunreachable\n}",
        r, false);
}

static const struct access_site *only_site(const struct analysed *a)
{
    assert_int_equal(a->access->params[0].n_sites, 1);
    return &a->access->params[0].sites[0];
}

static void expect_items(const char *body, bool conditional, int64_t first, int64_t last)
{
    struct analysed a = analyse(body, test_range(64, 0));
    const struct access_site *s = only_site(&a);
    assert_int_equal(s->conditional, conditional);
    assert_int_equal(s->items.first[0], first);
    assert_int_equal(s->items.last[0], last);
    clear(&a);
}

static void guards(void **state)
{
    (void)state;
#define GUARD(condition) "%j = global_id x\n" condition "\nif %c {\n" STORE_AT_J "\n}"
    expect_items("%j = global_id x\n" STORE_AT_J, false, 0, 63);
    expect_items(GUARD("%c = ult i64 %j, 10"), false, 0, 9);
    expect_items(GUARD("%c = sgt i64 %j, 10"), false, 11, 63);
    expect_items(GUARD("%c = ieq i64 %j, 7"), false, 7, 7);
    expect_items(GUARD("%c = ine i64 %j, 0"), false, 1, 63);
    expect_items(GUARD("%c = ine i64 %j, 5"), true, 0, 63);
    expect_items(GUARD("%c = ult i64 %j, %n"), true, 0, 63);
    expect_items(GUARD("%d = ugt i64 %j, 0\n%e = ult i64 %j, 63\n%c = and bool %d, %e"), false, 1, 62);
    expect_items(GUARD("%k = mul i64 %j, 2\n%c = ult i64 %k, 21"), false, 0, 10);
    expect_items(GUARD("%k = sub i64 %j, 8\n%c = slt i64 %k, 0"), false, 0, 7);
    expect_items(GUARD("%k = sub i64 %j, 8\n%c = ult i64 %k, 8"), true, 0, 63); /* unsigned, it wraps */
    expect_items("%j = global_id x\n%c = uge i64 %j, 32\nif %c {\nreturn\n}\n" STORE_AT_J, false, 0, 31);
    expect_items("%j = global_id x\n%c = uge i64 %j, %n\nif %c {\nreturn\n}\n" STORE_AT_J, true, 0, 63);
    expect_items("%j = global_id x\nloop {\n%c = uge i64 %j, %n\nif %c {\nreturn\n}\nbreak\n}\n" STORE_AT_J, true, 0,
                 63);
    expect_items("%j = global_id x\nloop {\n%c = uge i64 %j, %n\nif %c {\nbreak\n}\nbreak\n}\n" STORE_AT_J, false, 0,
                 63);
    expect_items("%j = global_id x\nloop {\n%c = uge i64 %j, %n\nif %c {\nbreak\n}\n" STORE_AT_J "\nbreak\n}\n", true,
                 0, 63);
}

static void pointers_that_get_lost(void **state)
{
    (void)state;
    struct nd_range r = test_range(64, 0);
    struct analysed a = analyse("%i = ptrtoint i64 %a\nstore i32 %b, 1", r);
    assert_true(a.access->params[0].escapes);
    assert_false(a.access->params[1].escapes);
    clear(&a);
    a = analyse("%c = ult i64 %n, 3\n%q = elem f32 %a, 1\n%p = select ptr.global %c, %a, %b\n%x = load f32 %p\nstore "
                "f32 %q, %x",
                r);
    assert_false(a.access->params[0].escapes);
    assert_true(a.access->params[0].reads && a.access->params[0].writes && a.access->params[1].reads);
    assert_false(a.access->params[1].writes);
    assert_false(a.access->params[1].sites[0].index.known);
    clear(&a);
    a = analyse("%c = ult i64 %n, 3\n%q = elem f32 %a, 4\n%p = select ptr.global %c, %a, %q\nstore f32 %p, 1.0", r);
    assert_int_equal(only_site(&a)->index.high, 16);
    clear(&a);
    a = analyse("%v = var ptr.global\nstore ptr.global %v, %a\n%p = load ptr.global %v\n%i = global_id x\nstore f32 "
                "%p[%i], 1.0",
                r);
    assert_int_equal(only_site(&a)->index.factor[AFFINE_GLOBAL], 4); /* the variable is taken out */
    clear(&a);
    a = analyse("%p = load ptr.global %b\nstore f32 %p, 1.0", r);
    assert_true(a.access->unknown_writes);
    clear(&a);
    /* Constants of the module lead to such only; what an argument holds may be anything. */
    a = analyse("%t = global @table\n%q = elem ptr.constant %t, %n\n%p = load ptr.constant %q\n%x = load i32 %p\n"
                "%s = load ptr.constant %p\n%y = load i32 %s",
                r);
    assert_false(a.access->unknown_reads);
    clear(&a);
    a = analyse("%p = load ptr.constant %b\n%x = load i32 %p", r);
    assert_true(a.access->unknown_reads);
    clear(&a);
}

static void written_first(void **state)
{
    (void)state;
    struct nd_range r = test_range(64, 0);
    struct analysed a = analyse("%i = global_id x\nstore f32 %a[%i], 1.0\n%x = load f32 %a[%i]", r);
    assert_true(a.access->params[0].written_first);
    clear(&a);
    a = analyse("%i = global_id x\n%x = load f32 %a[%i]\nstore f32 %a[%i], %x", r);
    assert_false(a.access->params[0].written_first);
    clear(&a);
    a = analyse("%i = global_id x\n%c = ult i64 %i, 63\nif %c {\nstore f32 %a[%i], 1.0\n}", r);
    assert_false(a.access->params[0].written_first);
    clear(&a);
}

static void expect_bytes(const char *body, struct nd_range range, uint64_t whole, uint64_t bytes)
{
    struct analysed a = analyse(body, range);
    assert_int_equal(footprint_bytes(&a.access->params[0], &range, whole), bytes);
    clear(&a);
}

static void traffic(void **state)
{
    (void)state;
    struct nd_range r = test_range(64, 0);
    expect_bytes("%j = global_id x\n" STORE_AT_J, r, 4096, 256);
    expect_bytes("%i = global_id x\n%x = load f32 %a[%i]\nstore f32 %a[%i], %x\nstore f32 %a[%i], 1.0", r, 4096, 512);
    expect_bytes("%i = global_id x\n%j = add i64 %i, 1\n%x = load f32 %a[%i]\n%y = load f32 %a[%j]", r, 4096, 260);
    expect_bytes("%x = load f32 %a", r, 4096, 4);
    expect_bytes("%i = global_id x\n%w = load i32 %b[%i]\n%j = sext i64 %w\n" STORE_AT_J, r, 4096, 4096);
    expect_bytes("%j = global_id x\n%c = ult i64 %j, 10\nif %c {\n" STORE_AT_J "\n}", r, 4096, 40);
    expect_bytes("%i = global_id x\n%j = add i64 %i, %n\n" STORE_AT_J, r, 4096, 256);
    expect_bytes("%i = global_id x\n%j = shl i64 %i, 3\n" STORE_AT_J, r, 4096, 256);
}

/* What is computed behind a guard is of the work-items there: 8-bit ids fit below 128. */
static void values_behind_guards(void **state)
{
    (void)state;
    const char *body =
        "%i = global_id x\n%t = trunc i8 %i\n%c = ult i64 %i, 128\nif %c {\n%j = sext i64 %t\n" STORE_AT_J "\n}";
    expect_owned(body, test_range(200, 0), true);
    expect_owned("%i = global_id x\n%c = ult i64 %i, 4\n%j = if %c -> i64 {\n%k = smin i64 %i, 10\nyield %k\n} else "
                 "{\nyield 0\n}\n" STORE_AT_J,
                 test_range(64, 0), false);
    expect_owned("%i = global_id x\n%c = ult i64 %i, 4\n%j = if %c -> i64 {\nyield 0\n} else {\n%k = add i64 %i, "
                 "0\nyield %k\n}\n" STORE_AT_J,
                 test_range(64, 0), false);
}

/* ---- conflicts against trying all pairs ---- */

struct random_site {
    struct access_site site;
    struct nd_range range;
    int64_t offset;
};

static struct random_site random_site(struct rng *rng, bool two)
{
    struct random_site s = {
        .range = {.dims = 2, .global = {1 + rng_below(rng, 7), two ? 1 + rng_below(rng, 4) : 1, 1}}};
    s.site.index = (struct affine){.known = true, .constant = (int64_t)rng_below(rng, 40) - 20};
    s.site.bytes = 1u << rng_below(rng, 4);
    s.offset = (int64_t)rng_below(rng, 8);
    for (unsigned d = 0; d < 2; d++)
        s.site.index.factor[d] = ((int64_t)rng_below(rng, 11) - 5) * (rng_chance(rng, 50) ? 1 : 4);
    if (rng_chance(rng, 20)) s.site.index.high = (int64_t)rng_below(rng, 6);
    for (unsigned d = 0; d < 3; d++) {
        s.site.items.last[d] = (int64_t)s.range.global[d] - 1;
        if (d < 2 && rng_chance(rng, 20)) s.site.items.first[d] = (int64_t)rng_below(rng, (uint32_t)s.range.global[d]);
    }
    return s;
}

static int64_t place_of(const struct random_site *s, int64_t x, int64_t y)
{
    return s->offset + s->site.index.constant + x * s->site.index.factor[0] + y * s->site.index.factor[1];
}

static bool meet(const struct random_site *a, const int64_t i[2], const struct random_site *b, const int64_t j[2])
{
    int64_t first = place_of(a, i[0], i[1]), second = place_of(b, j[0], j[1]);
    return first < second + b->site.index.high + (int64_t)b->site.bytes &&
           second < first + a->site.index.high + (int64_t)a->site.bytes;
}

static bool meet_somewhere(const struct random_site *a, const struct random_site *b)
{
    const struct access_items *s = &a->site.items, *t = &b->site.items;
    for (int64_t i[2] = {0, s->first[1]}; i[1] <= s->last[1]; i[1]++)
        for (i[0] = s->first[0]; i[0] <= s->last[0]; i[0]++)
            for (int64_t j[2] = {0, t->first[1]}; j[1] <= t->last[1]; j[1]++)
                for (j[0] = t->first[0]; j[0] <= t->last[0]; j[0]++)
                    if ((i[0] != j[0] || i[1] != j[1]) && meet(a, i, b, j)) return true;
    return false;
}

static void conflicts_are_what_trying_finds(void **state)
{
    (void)state;
    struct rng rng = {7};
    uint32_t found = 0, none = 0;
    for (unsigned n = 0; n < 20000; n++) {
        struct random_site a = random_site(&rng, n % 2), b = rng_chance(&rng, 30) ? a : random_site(&rng, n % 2);
        if (rng_chance(&rng, 40)) memcpy(b.site.index.factor, a.site.index.factor, sizeof a.site.index.factor);
        struct launched_access x = {&a.site, &a.range, a.offset, NULL}, y = {&b.site, &b.range, b.offset, NULL};
        struct dependence_witness pair;
        enum access_dependence c = dependence_find(&x, &y, BETWEEN_ITEMS, NULL, &pair);
        bool meets = meet_somewhere(&a, &b), exact = !a.site.index.high && !b.site.index.high;
        if (c != (meets ? exact ? ACCESS_DEPENDENCE_PROVED : ACCESS_DEPENDENCE_POSSIBLE : ACCESS_DEPENDENCE_NONE))
            fail_msg("case %u: %d, meets %d", n, (int)c, meets);
        if (c == ACCESS_DEPENDENCE_PROVED) {
            assert_true(meet(&a, pair.first, &b, pair.second));
            assert_memory_not_equal(pair.first, pair.second, sizeof pair.first);
        }
        found += meets;
        none += !meets;
    }
    assert_true(found > 2000 && none > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_ids),
        cmocka_unit_test(offsets_count),
        cmocka_unit_test(narrow_ids_wrap),
        cmocka_unit_test(ownership),
        cmocka_unit_test(local_ids),
        cmocka_unit_test(loops),
        cmocka_unit_test(guards),
        cmocka_unit_test(pointers_that_get_lost),
        cmocka_unit_test(written_first),
        cmocka_unit_test(traffic),
        cmocka_unit_test(values_behind_guards),
        cmocka_unit_test(conflicts_are_what_trying_finds),
    };
    return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
