/* Random graphs of kernels with many kinds of access. */
#include "tests/support/random_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "tests/support/rng.h"

/* All kernels read %a (and %b) and write %o at 64 work-items or less; buffers have 512 elements, so that
   none leaves them. */
static const char kernels[] =
    "kernel @add(%o: ptr.global i32, %a: ptr.global i32, %b: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %y = load i32 %b[%i]\n %s = add i32 %x, %y\n store i32 %o[%i], "
    "%s\n}\n"
    "kernel @scale(%o: ptr.global i32, %a: ptr.global i32, %k: i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %s = mul i32 %x, %k\n store i32 %o[%i], %s\n}\n"
    "kernel @inc(%o: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %o[%i]\n %s = add i32 %x, 1\n store i32 %o[%i], %s\n}\n"
    "kernel @narrow(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %g = global_id x\n %i = trunc i32 %g\n %x = load i32 %a[%i]\n %s = xor i32 %x, 85\n %j = sext i64 %i\n store "
    "i32 %o[%j], %s\n}\n"
    "kernel @next(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %j = add i64 %i, 1\n %x = load i32 %a[%j]\n store i32 %o[%i], %x\n}\n"
    "kernel @inner(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %c = ugt i64 %i, 0\n"
    "    if %c {\n %j = sub i64 %i, 1\n %x = load i32 %a[%j]\n store i32 %o[%i], %x\n }\n}\n"
    "kernel @clamped(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %k = sub i64 %i, 1\n %j = smax i64 %k, 0\n %x = load i32 %a[%j]\n store i32 %o[%i], %x\n}\n"
    "kernel @reverse(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %n = global_size x\n %m = sub i64 %n, 1\n %j = sub i64 %m, %i\n %x = load i32 %a[%j]\n "
    "store i32 %o[%i], %x\n}\n"
    "kernel @first(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a\n store i32 %o[%i], %x\n}\n"
    "kernel @spread(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %j = shl i64 %i, 1\n store i32 %o[%j], %x\n"
    "    %k = or i64 %j, 1\n %y = neg i32 %x\n store i32 %o[%k], %y\n}\n"
    "kernel @pairs(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %j = mul i64 %i, 2\n %k = add i64 %j, 1\n %x = load i32 %a[%j]\n %y = load i32 %a[%k]\n"
    "    %s = sub i32 %x, %y\n store i32 %o[%i], %s\n}\n"
    "kernel @guarded(%o: ptr.global i32, %a: ptr.global i32, %n: i64) {\n"
    "    %i = global_id x\n %c = uge i64 %i, %n\n if %c {\n return\n }\n %x = load i32 %a[%i]\n %s = mul i32 %x, 3\n "
    "store i32 %o[%i], %s\n}\n"
    "kernel @gather(%o: ptr.global i32, %a: ptr.global i32, %b: ptr.global i32) {\n"
    "    %i = global_id x\n %w = load i32 %b[%i]\n %v = and i32 %w, 15\n %x = load i32 %a[%v]\n store i32 %o[%i], "
    "%x\n}\n"
    "kernel @row(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n"
    "    %s = loop (%k: i64 = 0, %t: i32 = 0) -> i32 {\n %c = ult i64 %k, 4\n"
    "        if %c {\n %j = add i64 %r, %k\n %x = load i32 %a[%j]\n %u = add i32 %t, %x\n %n = add i64 %k, 1\n "
    "continue %n, %u\n }"
    " else {\n break %t\n }\n    unreachable\n }\n"
    "    store i32 %o[%i], %s\n}\n"
    "kernel @rows(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n"
    "    loop (%k: i64 = 0) {\n %c = ult i64 %k, 4\n"
    "        if %c {\n %j = add i64 %r, %k\n %x = load i32 %a[%j]\n %u = add i32 %x, 7\n store i32 %o[%j], %u\n %n = "
    "add i64 %k, 1\n continue %n\n }"
    " else {\n break\n }\n    unreachable\n }\n}\n"
    "kernel @swap(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %l = local_id x\n %n = enqueued_local_size x\n %g = group_id x\n %b = mul i64 %g, %n\n %m = sub i64 %n, 1\n "
    "%r = sub i64 %m, %l\n"
    "    %j = add i64 %b, %r\n %i = global_id x\n %x = load i32 %a[%j]\n store i32 %o[%i], %x\n}\n"
    "kernel @fours(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_linear_id\n %x = load i32 %a[%i]\n %r = shl i64 %i, 2\n store i32 %o[%r], %x\n"
    "    %r1 = or i64 %r, 1\n %x1 = neg i32 %x\n store i32 %o[%r1], %x1\n"
    "    %r2 = or i64 %r, 2\n %x2 = add i32 %x, 9\n store i32 %o[%r2], %x2\n"
    "    %r3 = or i64 %r, 3\n %x3 = mul i32 %x, 5\n store i32 %o[%r3], %x3\n}\n"
    "kernel @apart(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %j = add i64 %i, 128\n store i32 %o[%i], %x\n"
    "    %y = not i32 %x\n store i32 %o[%j], %y\n}\n"
    "kernel @strided(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n"
    "    %s = loop (%k: i64 = 0, %t: i32 = 0) -> i32 {\n %c = ult i64 %k, 2\n"
    "        if %c {\n %m = shl i64 %k, 7\n %j = add i64 %i, %m\n %x = load i32 %a[%j]\n %u = sub i32 %x, %t\n "
    "%n = add i64 %k, 1\n continue %n, %u\n }"
    " else {\n break %t\n }\n    unreachable\n }\n"
    "    store i32 %o[%i], %s\n}\n"
    "kernel @picked(%o: ptr.global i32, %a: ptr.global i32, %b: ptr.global i32) {\n"
    "    %i = global_linear_id\n %w = load i32 %b[%i]\n %v = and i32 %w, 3\n %r = shl i64 %i, 2\n %k = zext i64 %v\n"
    "    %p = elem i32 %a, %r\n %q = elem i32 %p, 1\n %c = slt i32 %w, 0\n %e = select ptr.global %c, %q, %p\n"
    "    %f = elem i32 %p, %k\n %x = load i32 %e\n %y = load i32 %f\n %s = sub i32 %x, %y\n store i32 %o[%i], %s\n}\n"
    "kernel @block(%o: ptr.global i32, %a: ptr.global i32, %b: ptr.global i32) {\n"
    "    %i = global_id x\n %g = group_id x\n %n = enqueued_local_size x\n %h = mul i64 %g, %n\n %w = load i32 %b[%i]\n"
    "    %v = and i32 %w, 15\n %k = zext i64 %v\n %j = add i64 %h, %k\n %x = load i32 %a[%j]\n"
    "    store i32 %o[%i], %x\n}\n"
    "kernel @linear(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_linear_id\n %x = load i32 %a[%i]\n %s = add i32 %x, 23\n store i32 %o[%i], %s\n}\n"
    "kernel @sizes(%o: ptr.global i32) {\n"
    "    %i = global_linear_id\n %x = global_id x\n %y = global_id y\n %w = global_size x\n %f = global_offset x\n"
    "    %d = work_dim\n %e = zext i64 %d\n %s = add i64 %x, %e\n %t = mul i64 %y, 100\n %u = mul i64 %w, 1000\n"
    "    %p = add i64 %s, %t\n %q = add i64 %u, %f\n %r = add i64 %p, %q\n %v = trunc i32 %r\n"
    "    store i32 %o[%i], %v\n}\n"
    "kernel @shift(%o: ptr.global i32, %a: ptr.global i32, %n: i64) {\n"
    "    %i = global_id x\n %j = add i64 %i, %n\n %x = load i32 %a[%j]\n store i32 %o[%i], %x\n}\n"
    "kernel @plane(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %x = global_id x\n %y = global_id y\n %w = global_size x\n %r = mul i64 %y, %w\n %i = add i64 %r, %x\n"
    "    %v = load i32 %a[%i]\n %s = add i32 %v, 11\n store i32 %o[%i], %s\n}\n"
    "kernel @turned(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %x = global_id x\n %y = global_id y\n %w = global_size x\n %h = global_size y\n %r = mul i64 %y, %w\n %i = "
    "add i64 %r, %x\n"
    "    %q = mul i64 %x, %h\n %j = add i64 %q, %y\n %v = load i32 %a[%j]\n store i32 %o[%i], %v\n}\n"
    "kernel @moved(%o: ptr.global i32, %a: ptr.global i32, %n: i64) {\n"
    "    %i = global_id x\n %j = add i64 %i, %n\n %x = load i32 %a[%j]\n %s = add i32 %x, 3\n store i32 %o[%j], %s\n}\n"
    "kernel @image(%o: ptr.global i32, %a: ptr.global i32, %w: i32) {\n"
    "    %x0 = global_id x\n %y0 = global_id y\n %x = trunc i32 %x0\n %y = trunc i32 %y0\n %c = slt i32 %x, %w\n"
    "    if %c {\n %r = mul i32 %y, %w\n %j = add i32 %r, %x\n %i = sext i64 %j\n %v = load i32 %a[%i]\n"
    "    %s = xor i32 %v, 21\n store i32 %o[%i], %s\n }\n}\n"
    "kernel @border(%o: ptr.global i32, %a: ptr.global i32, %w: i32) {\n"
    "    %x0 = global_id x\n %y0 = global_id y\n %x = trunc i32 %x0\n %y = trunc i32 %y0\n %l = sub i32 %w, 1\n"
    "    %b = sgt i32 %x, 0\n %c = slt i32 %x, %l\n %d = sgt i32 %y, 0\n %e = select bool %b, %c, false\n"
    "    %f = and bool %e, %d\n %r = mul i32 %y, %w\n %j = add i32 %r, %x\n %i = sext i64 %j\n"
    "    if %f {\n %k = sub i64 %i, 1\n %v = load i32 %a[%i]\n %u = load i32 %a[%k]\n %s = sub i32 %v, %u\n"
    "    store i32 %o[%i], %s\n }\n else {\n %g = slt i32 %x, %w\n if %g {\n %v2 = load i32 %a[%i]\n"
    "    store i32 %o[%i], %v2\n }\n }\n}\n"
    "kernel @near(%o: ptr.global i32, %a: ptr.global i32, %w: i32) {\n"
    "    %x0 = global_id x\n %y0 = global_id y\n %x = trunc i32 %x0\n %y = trunc i32 %y0\n %c = slt i32 %x, %w\n"
    "    if %c {\n %r = mul i32 %y, %w\n %j = add i32 %r, %x\n %i = sext i64 %j\n %l = sub i32 %x, 1\n"
    "    %m = smax i32 %l, 0\n %k = add i32 %r, %m\n %v = load i32 %a[%i]\n %u = load i32 %a[%k]\n"
    "    %s = sub i32 %v, %u\n store i32 %o[%i], %s\n }\n}\n"
    "kernel @cross(%o: ptr.global i32, %a: ptr.global i32, %w: i32) {\n"
    "    %x0 = global_id x\n %y0 = global_id y\n %x = trunc i32 %x0\n %y = trunc i32 %y0\n %l = sub i32 %w, 1\n"
    "    %b = sgt i32 %x, 0\n %c = slt i32 %x, %l\n %d = sgt i32 %y, 0\n %e = and bool %b, %c\n %f = and bool %e, %d\n"
    "    if %f {\n %r = mul i32 %y, %w\n %i = add i32 %r, %x\n %k0 = sub i32 %i, 1\n %k1 = add i32 %i, 1\n"
    "    %k2 = sub i32 %i, %w\n %v0 = load i32 %a[%k0]\n %v1 = load i32 %a[%k1]\n %v2 = load i32 %a[%k2]\n"
    "    %s0 = mul i32 %v0, 3\n %s1 = add i32 %s0, %v1\n %s2 = xor i32 %s1, %v2\n store i32 %o[%i], %s2\n }\n}\n"
    "kernel @rounds(%o: ptr.global i32, %a: ptr.global i32, %n: i64) {\n"
    "    %i = global_id x\n %g = global_size x\n %m = shl i64 %n, 4\n %e = add i64 %m, 16\n %c = ult i64 %i, %e\n"
    "    if %c {\n loop (%k: i64 = %i) {\n %x = load i32 %a[%k]\n %s = mul i32 %x, 3\n store i32 %o[%k], %s\n"
    "    %j = add i64 %g, %k\n %d = ult i64 %j, %e\n if %d {\n continue %j\n }\n break\n }\n }\n}\n"
    "kernel @walk(%o: ptr.global i32, %a: ptr.global i32, %n: i64) {\n"
    "    %i0 = global_id x\n %g0 = global_size x\n %i = trunc i32 %i0\n %g = trunc i32 %g0\n %n0 = trunc i32 %n\n"
    "    %e = mul i32 %n0, 20\n %l = loop (%k: i32 = %i, %t: i32 = 1) -> i32 {\n %d = slt i32 %k, %e\n"
    "    if %d {\n }\n else {\n break %t\n }\n %x = load i32 %a[%k]\n %s = add i32 %x, %t\n store i32 %o[%k], %s\n"
    "    %j = add i32 %k, %g\n continue %j, %s\n }\n store i32 %o[%i], %l\n}\n"
    "kernel @total(%o: ptr.global i32, %a: ptr.global i32) {\n"
    "    %i = global_id x\n %l = local_id x\n %g = group_id x\n %x = load i32 %a[%i]\n"
    "    %s = group_reduce i32 %x, work_group, add\n %c = ieq i64 %l, 0\n if %c {\n store i32 %o[%g], %s\n }\n}\n"
    "kernel @less(%o: ptr.global i32, %a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n %g = group_id x\n %x = load i32 %a[%i]\n %s = load i32 %t[%g]\n %y = sub i32 %x, %s\n"
    "    store i32 %o[%i], %y\n}\n"
    "kernel @along(%o: ptr.global i32, %a: ptr.global i32, %w: i32) {\n"
    "    %l0 = local_id x\n %g0 = group_id x\n %s0 = enqueued_local_size x\n %l = trunc i32 %l0\n %g = trunc i32 %g0\n"
    "    %s = trunc i32 %s0\n %h = mul i32 %g, %w\n %b = mul i32 %h, 3\n %n = mul i32 %w, 3\n %first = slt i32 %l, %n\n"
    "    if %first {\n loop (%j: i32 = %l) {\n %k = add i32 %b, %j\n %i = sext i64 %k\n %x = load i32 %a[%i]\n"
    "    %y = add i32 %x, 5\n store i32 %o[%i], %y\n %next = add i32 %j, %s\n %c = slt i32 %next, %n\n"
    "    if %c {\n continue %next\n }\n break\n }\n }\n}\n"
    "kernel @sum_along(%o: ptr.global i32, %a: ptr.global i32, %w: i32) {\n"
    "    %l0 = local_id x\n %g0 = group_id x\n %s0 = enqueued_local_size x\n %l = trunc i32 %l0\n %g = trunc i32 %g0\n"
    "    %s = trunc i32 %s0\n %h = mul i32 %g, %w\n %b = mul i32 %h, 3\n %n = mul i32 %w, 3\n"
    "    %sum = loop (%j: i32 = %l, %t: i32 = 0) -> i32 {\n %c = slt i32 %j, %n\n if %c {\n }\n else {\n break %t\n }\n"
    "    %k = add i32 %b, %j\n %i = sext i64 %k\n %x = load i32 %a[%i]\n %u = add i32 %t, %x\n"
    "    %next = add i32 %j, %s\n continue %next, %u\n }\n %all = group_reduce i32 %sum, work_group, add\n"
    "    %c0 = ieq i64 %l0, 0\n if %c0 {\n store i32 %o[%g0], %all\n }\n}\n"
    /* of random_plant.c: each element wherever %p says */
    "kernel @take(%o: ptr.global i32, %a: ptr.global i32, %p: ptr.global i32) {\n"
    "    %i = global_id x\n %w = load i32 %p[%i]\n %x = load i32 %a[%w]\n store i32 %o[%i], %x\n}\n"
    "kernel @put(%o: ptr.global i32, %a: ptr.global i32, %p: ptr.global i32) {\n"
    "    %i = global_id x\n %w = load i32 %p[%i]\n %x = load i32 %a[%i]\n store i32 %o[%w], %x\n}\n";

enum { ELEMENTS = 512, BUFFERS = 8, VALUES = 4, WIDTHS = 4, BOUNDS = 2 };

/* How a kernel is called: o output, a b inputs that must not be the output, = inputs that may be, k a scalar i32,
   n a scalar i64, w an i32 that rows are as long as, m an i64 near the number of work-items. */
struct kind {
    const char *name, *args;
    bool plain; /* element i of each buffer, written before anything else */
    enum { ANY, GROUPS, PLANE, SPACE } range;
};

static const struct kind kinds[] = {
    {"add", "o==", true, ANY},           {"scale", "o=k", true, ANY},     {"inc", "o", false, ANY},
    {"narrow", "o=", true, ANY},         {"next", "oa", false, ANY},      {"inner", "oa", false, ANY},
    {"clamped", "oa", false, ANY},       {"reverse", "oa", false, ANY},   {"first", "oa", false, ANY},
    {"spread", "oa", false, ANY},        {"pairs", "oa", false, ANY},     {"guarded", "o=m", false, ANY},
    {"gather", "oaa", false, ANY},       {"row", "oa", false, ANY},       {"rows", "o=", false, ANY},
    {"swap", "oa", false, GROUPS},       {"shift", "oan", false, ANY},    {"plane", "o=", false, PLANE},
    {"turned", "oa", false, PLANE},      {"fours", "oa", false, SPACE},   {"apart", "oa", false, ANY},
    {"strided", "oa", false, ANY},       {"picked", "oaa", false, SPACE}, {"block", "oaa", false, GROUPS},
    {"linear", "o=", false, SPACE},      {"sizes", "o", false, SPACE},    {"moved", "o=n", false, ANY},
    {"image", "o=w", false, PLANE},      {"border", "oaw", false, PLANE}, {"rounds", "o=n", false, ANY},
    {"walk", "o=n", false, ANY},         {"near", "oaw", false, PLANE},   {"cross", "oaw", false, PLANE},
    {"total", "oa", false, GROUPS},      {"less", "o=a", false, GROUPS},  {"along", "o=w", false, GROUPS},
    {"sum_along", "oaw", false, GROUPS},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct random_graph_knobs random_graph_knobs(uint64_t seed)
{
    struct rng rng = {seed ^ 0x6b6e6f6273};
    struct random_graph_knobs knobs = {.least_nodes = 2,
                                       .most_nodes = 2 + rng_below(&rng, 39),
                                       .commands = rng_chance(&rng, 50) ? rng_below(&rng, 40) : 0,
                                       .properties = rng_below(&rng, 100),
                                       .pieces = rng_chance(&rng, 30) ? rng_below(&rng, 50) : 0,
                                       .ranges = 1 + rng_below(&rng, 4),
                                       .barriers = rng_chance(&rng, 30)};
    if (!rng_chance(&rng, 30)) return knobs;
    knobs.most_nodes = 2 + rng_below(&rng, BUFFERS - 2);
    knobs.properties = 60 + rng_below(&rng, 41);
    knobs.chained = 60 + rng_below(&rng, 41);
    return knobs;
}

/* What is known of a buffer while nodes are added: decides which properties are true. */
struct history {
    bool used, plain_only, plain_first;
};

struct making {
    struct rng rng;
    struct test_graph *g;
    const struct random_graph_knobs *knobs;
    struct history buffers[BUFFERS];
    uint32_t chain;         /* buffers up to this one are a chain */
    uint32_t plain_percent; /* of kernels: graphs of few kinds fuse more */
    uint32_t row_percent;   /* of kernels: operations on rows of work-groups */
    uint32_t group_percent; /* of kernels that look around in their work-groups, where barriers stand between them */
    bool one_group;         /* some kernels have one work-group */
};

/* Some 64 work-items in one to three dimensions, perhaps with an offset. */
static struct nd_range pick_space(struct making *m)
{
    static const struct nd_range spaces[] = {{2, {8, 8, 1}, {0, 0, 0}, {0}},      {2, {16, 4, 1}, {1, 2, 0}, {0}},
                                             {3, {4, 4, 4}, {0, 0, 0}, {0}},      {3, {3, 4, 5}, {0, 7, 0}, {0}},
                                             {1, {60, 1, 1}, {4, 0, 0}, {0}},     {1, {32, 1, 1}, {100, 0, 0}, {0}},
                                             {2, {8, 8, 1}, {0, 0, 0}, {8, 2, 1}}};
    return spaces[rng_below(&m->rng, sizeof spaces / sizeof *spaces)];
}

static struct nd_range pick_range(struct making *m, const struct kind *kind)
{
    if (kind->range == PLANE) return rng_chance(&m->rng, 50) ? test_range_2d(8, 8) : test_range_2d(16, 4);
    if (m->one_group && rng_chance(&m->rng, 30)) return test_range(16, 16);
    if (m->one_group && kind->range != GROUPS && rng_chance(&m->rng, 15))
        return test_range(rng_chance(&m->rng, 50) ? 1 : 13, 0);
    if (kind->range == SPACE && m->knobs->ranges > 1 && rng_chance(&m->rng, 40)) return pick_space(m);
    if (kind->range == GROUPS) return test_range(64, rng_chance(&m->rng, 70) ? 16 : 32);
    switch (rng_below(&m->rng, m->knobs->ranges)) {
    case 0: return test_range(64, 0);
    case 1: return test_range(64, 16);
    case 2: return test_range(48, 0);
    default: return test_range(37, 0);
    }
}

static bool is_full(const struct nd_range *r)
{
    return r->dims == 1 && r->global[0] == 64;
}

static void note_use(struct making *m, uint32_t buffer, bool plain, bool writes_all)
{
    struct history *h = &m->buffers[buffer];
    if (!h->used) {
        h->plain_first = plain && writes_all;
        h->plain_only = true;
    }
    h->used = true;
    h->plain_only &= plain;
}

/* The buffer or a part of it, large enough for each kernel. */
static struct fuser_arg pick_piece(struct making *m, uint32_t buffer)
{
    struct fuser_arg arg = test_arg_buffer(buffer);
    if (!rng_chance(&m->rng, m->knobs->pieces)) return arg;
    arg.offset = 4 * rng_below(&m->rng, ELEMENTS / 2 + 1);
    if (rng_chance(&m->rng, 50)) arg.bytes = ELEMENTS / 2 * 4;
    return arg;
}

static bool is_whole(const struct fuser_arg *arg)
{
    return arg->kind == FUSER_ARG_BUFFER && !arg->offset && !arg->bytes;
}

static const struct kind *named(const char *name)
{
    const struct kind *kind = kinds;
    while (strcmp(kind->name, name) != 0) kind++;
    return kind;
}

static void add_kernel(struct making *m, const char *name)
{
    const struct kind *kind = &kinds[rng_below(&m->rng, KINDS)];
    if (rng_chance(&m->rng, m->plain_percent)) kind = &kinds[rng_below(&m->rng, 4)];
    if (m->knobs->barriers && !m->knobs->plain && rng_chance(&m->rng, m->group_percent))
        kind = named(rng_chance(&m->rng, 50) ? "swap" : "block");
    if (!m->knobs->plain && rng_chance(&m->rng, m->row_percent))
        kind = named((const char *[]){"total", "less", "along", "sum_along", "scale"}[rng_below(&m->rng, 5)]);
    bool chained = m->chain + 1 < BUFFERS && rng_chance(&m->rng, m->knobs->chained);
    if (chained && rng_chance(&m->rng, 15)) kind = named("guarded");
    struct nd_range range = pick_range(m, kind);
    if (m->knobs->barriers && kind->range == ANY && rng_chance(&m->rng, m->group_percent)) range = test_range(64, 16);
    struct fuser_arg args[4];
    uint32_t n = 0, before = m->chain, output = chained ? ++m->chain : rng_below(&m->rng, BUFFERS);
    for (const char *c = kind->args; *c; c++) {
        uint32_t buffer = *c == 'o' ? output : rng_below(&m->rng, BUFFERS);
        if (chained && *c != 'o') buffer = rng_chance(&m->rng, 70) ? before : rng_below(&m->rng, before + 1);
        if (*c == 'a' && buffer == output) buffer = (buffer + 1) % BUFFERS;
        if (*c == 'k') args[n++] = test_arg_value(rng_below(&m->rng, VALUES / 2));
        if (*c == 'n') args[n++] = test_arg_value(VALUES / 2 + rng_below(&m->rng, VALUES / 2));
        if (*c == 'w') args[n++] = test_arg_value(VALUES + rng_below(&m->rng, WIDTHS));
        if (*c == 'm') args[n++] = test_arg_value(VALUES + WIDTHS + rng_below(&m->rng, BOUNDS));
        if (*c == 'o' || *c == 'a' || *c == '=') args[n++] = pick_piece(m, buffer);
        if (*c == '=' && buffer == output) args[n - 1] = args[0]; /* in place: the very same piece */
    }
    bool plain = (kind->plain || strcmp(kind->name, "inc") == 0) && is_full(&range);
    for (uint32_t i = 1; i < n; i++)
        if (args[i].kind == FUSER_ARG_BUFFER) note_use(m, args[i].index, plain && is_whole(&args[i]), false);
    note_use(m, output, plain && is_whole(&args[0]), kind->plain);
    test_kernel(m->g, name, kind->name, range, args, n);
}

static void add_command(struct making *m, const char *name)
{
    uint32_t a = rng_below(&m->rng, BUFFERS), b = (a + 1 + rng_below(&m->rng, BUFFERS - 1)) % BUFFERS;
    note_use(m, a, false, false);
    note_use(m, b, false, false);
    if (rng_chance(&m->rng, 10)) {
        uint32_t node = test_copy(m->g, name, a, b, 4 * (1 + rng_below(&m->rng, 16)));
        struct fuser_node *copy = &m->g->graph.nodes[node];
        copy->rows = 1 + rng_below(&m->rng, 8);
        copy->from.pitch = 64 + 4 * rng_below(&m->rng, 16);
        copy->to.pitch = 64 + 4 * rng_below(&m->rng, 16);
        copy->from.offset = 4 * rng_below(&m->rng, 64);
        copy->to.offset = 4 * rng_below(&m->rng, 64);
    } else if (rng_chance(&m->rng, 40)) {
        test_copy(m->g, name, a, b, rng_chance(&m->rng, 50) ? ELEMENTS * 4 : 64);
    } else if (rng_chance(&m->rng, 50)) {
        test_fill(m->g, name, a, rng_chance(&m->rng, 50) ? ELEMENTS * 4 : 128, (uint8_t)rng_below(&m->rng, 100));
    } else {
        struct fuser_arg args[2] = {test_arg_buffer(a), test_arg_buffer(b)};
        args[0].access = IR_ACCESS_READ;
        args[1].bytes = 256;
        test_host(m->g, name, args, 2);
    }
}

/* Properties that are true of what the graph does. That nobody reads the buffer afterwards is up to us. */
static void add_properties(struct making *m)
{
    for (uint32_t i = 0; i < BUFFERS; i++) {
        const struct history *h = &m->buffers[i];
        struct fuser_props *props = &m->g->graph.buffers[i].props;
        if (!rng_chance(&m->rng, m->knobs->properties)) continue;
        props->internal_memory = true;
        if (h->used && h->plain_only && rng_chance(&m->rng, 70)) props->access_scope = FUSER_SCOPE_WORK_ITEM;
        if (h->used && h->plain_only && h->plain_first && rng_chance(&m->rng, 70)) props->no_init = true;
    }
}

/* Some graphs say what is read after them. */
static void declare_outputs(struct test_graph *g, uint64_t seed)
{
    struct rng rng = {seed ^ 0x6f757470};
    if (!rng_chance(&rng, 30)) return;
    for (uint32_t i = 0; i < BUFFERS; i++) g->graph.buffers[i].unread = rng_chance(&rng, 50);
}

/* Some were alike, and widths are those of planes. */
static void describe_values(struct making *m)
{
    struct fuser_value *values = m->g->graph.values;
    for (uint32_t i = VALUES / 2; i < VALUES + WIDTHS; i++) {
        bool wide = i >= VALUES;
        if (rng_chance(&m->rng, 70)) values[i].alike = 1 + wide;
        if (wide) values[i].number = values[i].alike ? 8 : 16;
    }
    for (uint32_t i = VALUES + WIDTHS; i < VALUES + WIDTHS + BOUNDS; i++) {
        values[i].number = rng_chance(&m->rng, 60) ? 64 : 48;
        if (rng_chance(&m->rng, 70)) values[i].alike = (uint32_t)values[i].number;
    }
}

struct test_graph *random_graph_new(uint64_t seed, const struct random_graph_knobs *knobs)
{
    struct making m = {.rng = {seed}, .g = test_graph_new(kernels), .knobs = knobs};
    char name[24];
    for (uint32_t i = 0; i < BUFFERS; i++) {
        snprintf(name, sizeof name, "b%u", i);
        test_buffer(m.g, name, IR_I32, ELEMENTS, (struct fuser_props){0});
    }
    for (uint32_t i = 0; i < VALUES + WIDTHS; i++) test_value(m.g, i < VALUES / 2 || i >= VALUES ? 4 : 8);
    for (uint32_t i = 0; i < BOUNDS; i++) test_value(m.g, 8);
    describe_values(&m);
    m.one_group = m.g->options.device.last_groups = !knobs->plain && seed % 3 == 1;
    m.plain_percent = knobs->plain ? 100 : rng_below(&m.rng, 100);
    m.group_percent = rng_below(&m.rng, 80);
    m.row_percent = rng_chance(&m.rng, 25) ? rng_below(&m.rng, 95) : 0;
    uint32_t n = knobs->least_nodes + rng_below(&m.rng, knobs->most_nodes - knobs->least_nodes + 1);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "n%u", i);
        if (rng_chance(&m.rng, knobs->commands)) {
            add_command(&m, name);
        } else {
            add_kernel(&m, name);
        }
        if (i && rng_chance(&m.rng, 10)) test_depends(m.g, i, rng_below(&m.rng, i));
    }
    add_properties(&m);
    declare_outputs(m.g, seed);
    m.g->options.insert_barriers = knobs->barriers;
    return m.g;
}

static void describe_node(struct strbuf *s, const struct fuser_graph *graph, const struct fuser_node *n)
{
    if (n->kind == FUSER_NODE_COPY)
        strbuf_printf(s, "%s: copy b%u to b%u, %u bytes\n", n->name, n->from.buffer, n->to.buffer, (unsigned)n->bytes);
    if (n->kind == FUSER_NODE_FILL)
        strbuf_printf(s, "%s: fill b%u, %u bytes\n", n->name, n->to.buffer, (unsigned)n->bytes);
    if (n->kind == FUSER_NODE_HOST) strbuf_printf(s, "%s: host", n->name);
    if (n->kind == FUSER_NODE_KERNEL)
        strbuf_printf(s, "%s: %s over %u x %u, local %u", n->name, n->kernel->name, (unsigned)n->range.global[0],
                      (unsigned)n->range.global[1], (unsigned)n->range.local[0]);
    if (n->kind != FUSER_NODE_KERNEL && n->kind != FUSER_NODE_HOST) return;
    for (uint32_t i = 0; i < n->n_args; i++) {
        strbuf_printf(s, " %s%u", n->args[i].kind == FUSER_ARG_BUFFER ? "b" : "v", n->args[i].index);
        if (n->args[i].offset) strbuf_printf(s, "+%u", (unsigned)n->args[i].offset);
    }
    for (uint32_t i = 0; i < n->n_deps; i++) strbuf_printf(s, " after %s", graph->nodes[n->deps[i]].name);
    strbuf_printf(s, "\n");
}

char *random_graph_text(const struct test_graph *g)
{
    struct strbuf s = {0};
    for (uint32_t i = 0; i < g->graph.n_buffers; i++) {
        const struct fuser_props *p = &g->graph.buffers[i].props;
        strbuf_printf(&s, "b%u: scope %d%s%s%s\n", i, (int)p->access_scope, p->internal_memory ? ", internal" : "",
                      p->no_init ? ", no_init" : "", g->graph.buffers[i].unread ? ", no output" : "");
    }
    for (uint32_t i = 0; i < g->graph.n_nodes; i++) describe_node(&s, &g->graph, &g->graph.nodes[i]);
    return strbuf_take(&s);
}
