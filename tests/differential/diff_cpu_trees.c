/* Random trees in local memory, as scans and sums have them: over twice the distance each time or half of it, distances
   multiplied or shifted, of numbers of 4 and 8 bytes, with and without padding, with as many work-items as it takes and
   with some. The interpreter against compiled code of each instruction set. FUSIOND_TEST_SEED says where to begin. */
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
};

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
    strbuf_printf(b, "  loop (%%by: i32 = %%first, %%n: i32 = %%count) {\n    barrier work_group, local\n"
                     "    %%c = sgt i32 %%n, %%l32\n    if %%c {\n");
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
    strbuf_add(&b, "  barrier work_group, local\n");
    write_copies(&b, t, false);
    strbuf_add(&b, "  return\n}\n");
    return strbuf_take(&b);
}

/* How many work-items the first step takes, and over which distance: all that follow stay in the array. */
static void some_start(struct rng *rng, const struct tree *t, int32_t *first, int32_t *count)
{
    unsigned steps = 0, distance = 1u << rng_below(rng, 3);
    *count = (int32_t)t->group - (rng_chance(rng, 40) ? (int32_t)rng_below(rng, t->group / 2) : 0);
    if (t->down) {
        *count = 1 + (int32_t)rng_below(rng, 3);
        while (((unsigned)*count << (steps + 1)) <= t->group) steps++;
    }
    distance <<= steps;
    *first = (int32_t)(t->shifts ? (unsigned)__builtin_ctz(distance) : distance);
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
        int32_t first, count;
        some_start(&rng, &t, &first, &count);
        fill(&t);
        struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = input, .size = sizeof input},
                                    {.kind = INTERP_ARG_BUFFER, .data = output, .size = sizeof output},
                                    {.kind = INTERP_ARG_BYTES, .data = &first, .size = sizeof first},
                                    {.kind = INTERP_ARG_BYTES, .data = &count, .size = sizeof count}};
        if (from) fprintf(stderr, "# seed %llu\n%s", (unsigned long long)seed, text);
        print_message("# seed %llu\n", (unsigned long long)seed);
        kit_same_everywhere(text, &range, 1, 0, args, 4);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees)};
    return cmocka_run_group_tests_name("diff_cpu_trees", tests, NULL, NULL);
}
