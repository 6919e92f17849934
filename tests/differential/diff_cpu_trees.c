/* Random trees in local memory, as scans and sums have them: over twice the distance each time or half of it, distances
   multiplied or shifted, known or not, of numbers of 4 and 8 bytes, with and without padding, with as many work-items
   as it takes and with some, and then what only part of a row does. The interpreter against compiled code of each
   instruction set. FUSIOND_TEST_SEED says where to begin. */
#include "fuser/passes/manager/pipelines.h"
#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/compiled_kit.h"
#include "tests/support/rng.h"

enum { MOST_GROUP = 256, FRAMES = 4, GROUPS = 2, ALL = (2 * FRAMES + 1) * MOST_GROUP * GROUPS };

static int64_t input[ALL], output[ALL];

struct tree {
    const char *type;
    unsigned group, size; /* work-items of a group, and elements that the tree is over */
    unsigned room;        /* elements of the array, with those between */
    unsigned padding;     /* an element more after each 1 << padding; 0: none */
    bool shifts;          /* distances are shifted by; else they are factors */
    bool first_l;         /* distance * 2 * l + distance instead of distance * (2 * l + 1) */
    bool down, swaps;     /* the distance halves; both elements are written */
    unsigned moved;       /* added to each index */
    bool known;           /* how it begins: numbers, else arguments */
    int32_t first, count; /* the distance, and how many work-items take the first step */
    const char *parts[2]; /* comparisons of ids with numbers, behind the tree */
    unsigned limits[2];
};

/* How many work-items the first step takes, and over which distance: all that follow stay in the array. */
static void some_start(struct rng *rng, struct tree *t)
{
    unsigned steps = 0, distance = 1u << rng_below(rng, 3);
    t->count = (int32_t)t->group - (rng_chance(rng, 40) ? (int32_t)rng_below(rng, t->group / 2) : 0);
    if (t->down) {
        t->count = 1 + (int32_t)rng_below(rng, 3);
        while (((unsigned)t->count << (steps + 1)) <= t->group) steps++;
    }
    distance <<= steps;
    t->first = (int32_t)(t->shifts ? (unsigned)__builtin_ctz(distance) : distance);
}

static void some_parts(struct rng *rng, struct tree *t)
{
    static const char *const comparisons[] = {"slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge", "ieq", "ine"};
    static const unsigned limits[] = {0, 1, 2, 3, 5, 16, 31, 32, 64, 100, 256, 300};
    for (unsigned i = 0; i < 2; i++) {
        t->parts[i] = comparisons[rng_below(rng, 10)];
        t->limits[i] = limits[rng_below(rng, 12)];
    }
}

static struct tree some_tree(struct rng *rng)
{
    static const char *const types[] = {"i32", "f32", "i64", "f64"};
    struct tree t = {.type = types[rng_below(rng, 4)], .group = 32u << rng_below(rng, 4)};
    t.size = 2 * t.group * FRAMES;
    t.room = t.size + t.group;
    t.padding = rng_chance(rng, 30) ? 4 + rng_below(rng, 2) : 0;
    t.shifts = rng_chance(rng, 30);
    t.first_l = rng_chance(rng, 30);
    t.down = rng_chance(rng, 50);
    t.swaps = rng_chance(rng, 50);
    t.moved = rng_chance(rng, 30) ? rng_below(rng, 3) : 0;
    t.known = rng_chance(rng, 60);
    some_start(rng, &t);
    some_parts(rng, &t);
    return t;
}

/* Each work-item's elements, `group` apart, from memory or to it. */
static void write_copies(struct strbuf *b, const struct tree *t, bool in)
{
    for (unsigned k = 0; k < t->room / t->group; k++) {
        const char *way = in ? "in" : "out";
        strbuf_printf(b, "  %%l_%s%u = add i64 %%l, %u\n  %%g_%s%u = add i64 %%base, %%l_%s%u\n", way, k, k * t->group,
                      way, k, way, k);
        if (in)
            strbuf_printf(b, "  %%v_in%u = load %s %%a[%%g_in%u]\n  store %s %%p[%%l_in%u], %%v_in%u\n", k, t->type, k,
                          t->type, k, k);
        else
            strbuf_printf(b, "  %%v_out%u = load %s %%p[%%l_out%u]\n  store %s %%o[%%g_out%u], %%v_out%u\n", k, t->type,
                          k, t->type, k, k);
    }
}

/* The index of element `name`: distance * (2 * l + which) - 1. */
static void write_index(struct strbuf *b, const struct tree *t, const char *name, unsigned which)
{
    const char *op = t->shifts ? "shl" : "mul";
    if (t->first_l)
        strbuf_printf(b,
                      "      %%%s0 = %s i32 %%twice, %%by\n      %%%s1 = mul i32 %%distance, %u\n"
                      "      %%%s2 = add i32 %%%s0, %%%s1\n",
                      name, op, name, which, name, name, name);
    else
        strbuf_printf(b, "      %%%s1 = add i32 %%twice, %u\n      %%%s2 = %s i32 %%%s1, %%by\n", name, which, name, op,
                      name);
    strbuf_printf(b, "      %%%s3 = add i32 %%%s2, %d\n", name, name, (int)t->moved - 1);
    if (t->padding)
        strbuf_printf(b, "      %%%s4 = lshr i32 %%%s3, %u\n      %%%s5 = add i32 %%%s3, %%%s4\n", name, name,
                      t->padding, name, name, name);
    else
        strbuf_printf(b, "      %%%s5 = add i32 %%%s3, 0\n", name, name);
    strbuf_printf(b, "      %%%si = sext i64 %%%s5\n      %%%sp = elem %s %%p, %%%si\n      %%%sv = load %s %%%sp\n",
                  name, name, name, t->type, name, name, t->type, name);
}

static void write_loop(struct strbuf *b, const struct tree *t)
{
    if (t->known)
        strbuf_printf(b, "  loop (%%by: i32 = %d, %%n: i32 = %d) {\n", t->first, t->count);
    else
        strbuf_add(b, "  loop (%by: i32 = %first, %n: i32 = %count) {\n");
    strbuf_add(b, "    barrier work_group, local\n    %c = sgt i32 %n, %l32\n    if %c {\n");
    strbuf_add(b, t->shifts ? "      %distance = shl i32 1, %by\n" : "      %distance = add i32 %by, 0\n");
    write_index(b, t, "x", 1);
    write_index(b, t, "y", 2);
    strbuf_printf(b, "      %%sum = %s %s %%xv, %%yv\n", t->type[0] == 'f' ? "fadd" : "add", t->type);
    if (t->swaps) strbuf_printf(b, "      store %s %%xp, %%yv\n", t->type);
    strbuf_printf(b, "      store %s %%yp, %%sum\n      yield\n    }\n", t->type);
    strbuf_printf(b, "    %%by2 = %s i32 %%by, 1\n", t->shifts ? t->down ? "sub" : "add" : t->down ? "lshr" : "shl");
    strbuf_printf(b, "    %%n2 = %s i32 %%n, 1\n", t->down ? "shl" : "lshr");
    if (t->down)
        strbuf_printf(b, "    %%e = sgt i32 %%n2, %u\n", t->group);
    else
        strbuf_add(b, "    %e = ult i32 %n, 2\n");
    strbuf_add(b, "    if %e {\n      yield\n    } else {\n      continue %by2, %n2\n    }\n    break\n  }\n");
}

/* The work-items of two parts of a row store a constant each, one after the other, and one of them others do as well.
 */
static void write_parts(struct strbuf *b, const struct tree *t)
{
    const char *zero = t->type[0] == 'f' ? "2.5" : "7";
    strbuf_printf(b,
                  "  barrier work_group, local\n  %%part0 = %s i32 %%l32, %u\n  %%part1 = %s i32 %%l32, %u\n"
                  "  %%both = and bool %%part0, %%part1\n  %%mine = elem %s %%p, %%l\n"
                  "  if %%part0 {\n    store %s %%mine, %s\n    yield\n  }\n"
                  "  if %%part1 {\n    %%v = load %s %%mine\n    %%w = %s %s %%v, %s\n    store %s %%mine, %%w\n"
                  "    yield\n  } else {\n    %%far = elem %s %%mine, %u\n    store %s %%far, %s\n    yield\n  }\n"
                  "  if %%both {\n    %%v2 = load %s %%mine\n    %%w2 = %s %s %%v2, %%v2\n    store %s %%mine, %%w2\n"
                  "    yield\n  }\n",
                  t->parts[0], t->limits[0], t->parts[1], t->limits[1], t->type, t->type, zero, t->type,
                  t->type[0] == 'f' ? "fadd" : "add", t->type, zero, t->type, t->type, t->group, t->type, zero, t->type,
                  t->type[0] == 'f' ? "fadd" : "add", t->type, t->type);
}

static char *kernel_of(const struct tree *t)
{
    struct strbuf b = {0};
    strbuf_printf(&b,
                  "local @part: [%u x %s]\n"
                  "kernel @k(%%a: ptr.global %s read, %%o: ptr.global %s, %%first: i32, %%count: i32)\n"
                  "        work_group_size(%u, 1, 1) assumes(small_ids, small_memory, whole_groups) {\n"
                  "  %%l = local_id x\n  %%l32 = trunc i32 %%l\n  %%twice = shl i32 %%l32, 1\n  %%p = global @part\n"
                  "  %%group = group_id x\n  %%base = mul i64 %%group, %u\n",
                  t->room, t->type, t->type, t->type, t->group, t->room);
    write_copies(&b, t, true);
    write_loop(&b, t);
    write_parts(&b, t);
    strbuf_add(&b, "  barrier work_group, local\n");
    write_copies(&b, t, false);
    strbuf_add(&b, "  return\n}\n");
    return strbuf_take(&b);
}

static void fill(const struct tree *t)
{
    for (unsigned i = 0; i < ALL; i++) {
        int32_t small = (int32_t)(i * 2654435761u >> 20) - 2000;
        float single = (float)small / 7;
        double twice = (double)small / 7;
        bool is_float = t->type[0] == 'f', is_wide = t->type[1] == '6';
        if (is_wide)
            memcpy(input + i, is_float ? (void *)&twice : &(int64_t){small}, sizeof *input);
        else
            memcpy((char *)input + 4 * i, is_float ? (void *)&single : &small, 4);
    }
}

static void trees(void **state)
{
    (void)state;
    const char *from = getenv("FUSIOND_TEST_SEED");
    uint64_t seed = from ? strtoull(from, NULL, 10) : 1;
    for (unsigned cases = test_cases(30); cases; cases--, seed++) {
        struct rng rng = {.state = seed};
        struct tree t = some_tree(&rng);
        char *text = kernel_of(&t);
        struct nd_range range = {1, {t.group * GROUPS, 1, 1}, {0}, {t.group, 1, 1}};
        fill(&t);
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = input, .size = sizeof input},
                                    {.kind = INTERP_ARG_BUFFER, .data = output, .size = sizeof output},
                                    {.kind = INTERP_ARG_BYTES, .data = &t.first, .size = sizeof t.first},
                                    {.kind = INTERP_ARG_BYTES, .data = &t.count, .size = sizeof t.count}};
        if (from) fprintf(stderr, "# seed %llu\n%s", (unsigned long long)seed, text);
        print_message("# seed %llu\n", (unsigned long long)seed);
        kit_same_everywhere(text, &range, 1, 0, args, 4);
        free(text);
    }
}

/* Steps that are known need no masks, nothing that decides between distances, and no more than a row's work-items. */
static void known_steps(void **state)
{
    (void)state;
    struct tree t = {.type = "i32", .group = 256, .size = 512, .room = 768, .known = true, .first = 1, .count = 256};
    t.parts[0] = t.parts[1] = "slt";
    t.limits[0] = t.limits[1] = 1;
    char *text = kernel_of(&t);
    struct ir_module *module = kit_parse(text);
    enum cpu_isa isas[CPU_ISA_COUNT];
    for (unsigned n = compiled_isas(isas); n-- > 1;) {
        struct cpu_options options = {.target = cpu_target_host(isas[n]), .keep_assembly = true};
        struct cpu_object object;
        struct diag_list list = {0};
        assert_int_equal(cpu_compile(kit_kernel(module), &options, &object, &list), 0);
        assert_true(object.statements < 600);
        assert_null(strstr(object.assembly, "gather"));
        assert_null(strstr(object.assembly, "scatter"));
        assert_null(strstr(object.assembly, "imul"));
        cpu_object_clear(&object);
    }
    ir_module_free(module);
    free(text);
}

/* The last steps of a tree, of two work-items and of one: what is stored under a mask, the next load would wait for. */
static void last_steps(void **state)
{
    (void)state;
    static const char text[] =
        "local @s: [64 x f32]\n"
        "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32) work_group_size(64, 1, 1)\n"
        "        assumes(small_ids, small_memory, whole_groups) {\n"
        "  %l = local_id x\n  %i = global_id x\n  %g = group_id x\n  %v = load f32 %a[%i]\n"
        "  %p = global @s\n  %mine = elem f32 %p, %l\n  store f32 %mine, %v\n  barrier work_group, local\n"
        "  %c2 = ult i64 %l, 2\n  if %c2 {\n    %j = add i64 %l, 2\n    %x = load f32 %p[%j]\n    %y = load f32 %mine\n"
        "    %z = fadd f32 %x, %y\n    store f32 %mine, %z\n    yield\n  }\n  barrier work_group, local\n"
        "  %c1 = ult i64 %l, 1\n  if %c1 {\n    %x1 = load f32 %p[1]\n    %y1 = load f32 %p\n"
        "    %z1 = fadd f32 %x1, %y1\n    store f32 %p, %z1\n    store f32 %o[%g], %z1\n    yield\n  }\n  return\n}\n";
    float in[256], out[4] = {0};
    for (unsigned i = 0; i < 256; i++) in[i] = (float)(i * i % 97) / 7;
    struct nd_range range = {1, {256, 1, 1}, {0}, {64, 1, 1}};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = sizeof in},
                                {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out}};
    kit_same_everywhere(text, &range, 1, 0, args, 2);
    struct ir_module *module = kit_parse(text);
    enum cpu_isa isas[CPU_ISA_COUNT];
    for (unsigned n = compiled_isas(isas); n-- > 0;) {
        struct cpu_options options = {.target = cpu_target_host(isas[n]), .keep_assembly = true};
        struct cpu_object object;
        struct diag_list list = {0};
        assert_int_equal(cpu_compile(kit_kernel(module), &options, &object, &list), 0);
        assert_null(strstr(object.assembly, "{%k"));
        assert_null(strstr(object.assembly, "vmaskmov"));
        cpu_object_clear(&object);
    }
    ir_module_free(module);
}

/* What is the same for the work-group is computed even where no work-item has anything else to do. */
static void nobody_takes_part(void **state)
{
    (void)state;
    static const char text[] =
        "local @s: [64 x i32]\n"
        "kernel @k(%a: ptr.global i32 read, %o: ptr.global i32) work_group_size(64, 1, 1)\n"
        "        assumes(small_ids, small_memory, whole_groups) {\n"
        "  %l = local_id x\n  %l32 = trunc i32 %l\n  %i = global_id x\n  %v = load i32 %a[%i]\n"
        "  %p = global @s\n  %mine = elem i32 %p, %l\n  store i32 %mine, %v\n  barrier work_group, local\n"
        "  %c = ugt i32 %l32, 100\n  if %c {\n    store i32 %mine, 7\n    yield\n  }\n"
        "  %u = load i32 %p\n  %y = add i32 %l32, %u\n  barrier work_group, local\n  store i32 %mine, %y\n"
        "  barrier work_group, local\n  %w = load i32 %mine\n  %z = add i32 %w, %u\n  store i32 %o[%i], %z\n"
        "  return\n}\n";
    int32_t in[128], out[128];
    struct nd_range range = {1, {128, 1, 1}, {0}, {64, 1, 1}};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = sizeof in},
                                {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out}};
    for (int i = 0; i < 128; i++) in[i] = i * i % 37 - 11;
    kit_same_everywhere(text, &range, 1, 0, args, 2);
}

/* A loop with two ways on, as compilers make two of it: work-items that add leave the inner one, and all come to its
   barrier. */
static void two_ways(void **state)
{
    (void)state;
    static const char text[] =
        "local @s: [64 x i32]\n"
        "kernel @k(%a: ptr.global i32 read, %o: ptr.global i32, %n: i32) work_group_size(64, 1, 1)\n"
        "        assumes(small_ids, small_memory, whole_groups) {\n"
        "  %l = local_id x\n  %l32 = trunc i32 %l\n  %i = global_id x\n  %v = load i32 %a[%i]\n"
        "  %p = global @s\n  %mine = elem i32 %p, %l\n"
        "  loop (%sum: i32 = %v, %d: i32 = 1) {\n    store i32 %mine, %sum\n"
        "    %out, %twice, %by = loop (%at: i32 = %d) -> bool, i32, i32 {\n      barrier work_group, local\n"
        "      %more = slt i32 %at, %n\n      if %more {\n        yield\n      } else {\n"
        "        break true, undef, %at\n      }\n      %next = shl i32 %at, 1\n      %mask = add i32 %next, -1\n"
        "      %rest = and i32 %l32, %mask\n      %adds = ieq i32 %rest, 0\n      if %adds {\n        yield\n"
        "      } else {\n        continue %next\n      }\n      break false, %next, %at\n    }\n"
        "    if %out {\n      break\n    }\n    %other = add i32 %l32, %by\n    %there = elem i32 %p, %other\n"
        "    %x = load i32 %there\n    %y = load i32 %mine\n    %z = add i32 %x, %y\n    continue %z, %twice\n  }\n"
        "  %r = load i32 %mine\n  store i32 %o[%i], %r\n  return\n}\n";
    int32_t n = 64, in[128], out[128];
    struct nd_range range = {1, {128, 1, 1}, {0}, {64, 1, 1}};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = sizeof in},
                                {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out},
                                {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n}};
    struct ir_module *module = kit_parse(text);
    pipeline_run(&pipeline_cleanup, kit_kernel(module));
    for (int i = 0; i < 128; i++) in[i] = i * i % 37 - 11;
    for (n = 0; n <= 64; n += 16) {
        int32_t want[128];
        memcpy(want, in, sizeof in);
        for (int d = 1; d < n; d *= 2)
            for (int i = 0; i < 128; i += 2 * d) want[i] += want[i + d];
        kit_interpret(kit_kernel(module), &range, args);
        assert_memory_equal(out, want, sizeof want);
        kit_same_in_all_ways(kit_kernel(module), &range, 1, 0, args, 3);
    }
    ir_module_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees), cmocka_unit_test(known_steps),
                                       cmocka_unit_test(last_steps), cmocka_unit_test(nobody_takes_part),
                                       cmocka_unit_test(two_ways)};
    return cmocka_run_group_tests_name("diff_cpu_trees", tests, NULL, NULL);
}
