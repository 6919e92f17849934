/*
 * Loops in which the work-items of a group go over a row together, `for (j = local_id; j < n; j += local_size)`, in
 * many forms: what is compared where, numbers of 32 and 64 bits, guards, steps, what is carried and what is left with.
 * Each is made rounds of the group, and gives the interpreter's bits.
 */
#include "tests/support/compiled_kit.h"

#include "fuser/cpu/prepare/code_passes.h"
#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/rng.h"

enum { ROW = 1200, ROWS = 3, NUMBERS = ROW * ROWS, MOST_ITEMS = 256 * ROWS };

static float numbers[NUMBERS], rows_out[NUMBERS], items_out[MOST_ITEMS];
static int32_t ints[NUMBERS];

struct form {
    bool wide, over_all, next, not_less, up_to, is_unsigned, is_guarded, from_size, narrowed, uses_left;
    enum { TOP_OUT, TOP_IN, BOTTOM_ON, BOTTOM_OUT } test;
    bool stores, branches, has_inner, in_loop;
    bool reads_written; /* what is written, before the loop */
    unsigned local, groups, rest, step, bound;
};

static struct form random_form(struct rng *r)
{
    static const unsigned locals[] = {64, 96, 128, 256}, steps[] = {32, 64, 100, 256, 300};
    struct form f = {.wide = rng_chance(r, 30),
                     .over_all = rng_chance(r, 25),
                     .next = rng_chance(r, 70),
                     .not_less = rng_chance(r, 30),
                     .up_to = rng_chance(r, 30),
                     .is_unsigned = rng_chance(r, 30),
                     .is_guarded = rng_chance(r, 60),
                     .from_size = rng_chance(r, 40),
                     .narrowed = rng_chance(r, 30),
                     .uses_left = rng_chance(r, 40),
                     .test = rng_below(r, 4),
                     .stores = rng_chance(r, 70),
                     .branches = rng_chance(r, 40),
                     .has_inner = rng_chance(r, 20),
                     .in_loop = rng_chance(r, 20),
                     .local = locals[rng_below(r, 4)],
                     .groups = 1 + rng_below(r, ROWS),
                     .rest = rng_chance(r, 30) ? rng_below(r, 60) : 0,
                     .step = steps[rng_below(r, 5)],
                     .bound = rng_chance(r, 30) ? rng_below(r, 4) * 256 : rng_below(r, 700)};
    f.reads_written = rng_chance(r, 40);
    f.over_all = f.over_all && !f.in_loop;
    bool overlaps = f.over_all || f.from_size ? false : f.step < f.local;
    if (overlaps || f.in_loop) f.stores = false; /* two would write the same */
    if (f.over_all) f.from_size = true;
    if (f.test <= TOP_IN) f.next = f.uses_left = false;
    return f;
}

/* ---- its text ---- */

static void write_start(struct strbuf *s, const struct form *f)
{
    const char *t = f->wide ? "i64" : "i32";
    strbuf_printf(s, "  %%l = %s x\n  %%g = group_id x\n  %%sz = %s x\n", f->over_all ? "global_id" : "local_id",
                  f->over_all ? "global_size" : "local_size");
    strbuf_printf(s, f->over_all ? "  %%row = mul i64 %%g, 0\n" : "  %%row = mul i64 %%g, %d\n", ROW);
    if (f->wide)
        strbuf_printf(s, "  %%first = %s x\n  %%size = %s x\n", f->over_all ? "global_id" : "local_id",
                      f->over_all ? "global_size" : "local_size");
    else
        strbuf_printf(s, "  %%first = trunc i32 %%l\n  %%size = trunc i32 %%sz\n");
    strbuf_printf(s, "  %%one = add %s %%first, 1\n", t);
}

static void write_condition(struct strbuf *s, const struct form *f, const char *name, const char *v)
{
    static const char *const less[] = {"slt", "sle", "ult", "ule"}, *const not_less[] = {"sge", "sgt", "uge", "ugt"};
    unsigned which = 2 * f->is_unsigned + f->up_to;
    strbuf_printf(s, "  %%%s = %s %s %%%s, %%n\n", name, (f->not_less ? not_less : less)[which],
                  f->wide ? "i64" : "i32", v);
}

static void write_next(struct strbuf *s, const struct form *f)
{
    const char *t = f->wide ? "i64" : "i32";
    char step[16];
    snprintf(step, sizeof step, f->from_size ? "%%size" : "%u", f->step);
    if (f->narrowed && !f->wide && f->from_size)
        strbuf_printf(s, "  %%jw = sext i64 %%j\n  %%jx = add i64 %%sz, %%jw\n  %%j2 = trunc i32 %%jx\n");
    else
        strbuf_printf(s, "  %%j2 = add %s %%j, %s\n", t, step);
}

static void write_round(struct strbuf *s, const struct form *f)
{
    strbuf_printf(s, f->wide ? "  %%jl = add i64 %%j, 0\n" : "  %%jl = sext i64 %%j\n");
    strbuf_printf(s, "  %%i = add i64 %%row, %%jl\n  %%v = load f32 %%a[%%i]\n  %%k = load i32 %%b[%%i]\n"
                     "  %%t2 = add i32 %%t, %%k\n");
    if (f->branches)
        strbuf_printf(s, "  %%c1 = sgt i32 %%k, 2\n  %%s1 = if %%c1 -> f32 {\n    %%x = fmul f32 %%v, %%s\n"
                         "    yield %%x\n  } else {\n    yield %%s\n  }\n");
    else
        strbuf_printf(s, "  %%s1 = fmul f32 %%s, 0.5\n");
    if (f->has_inner)
        strbuf_printf(s, "  %%s3 = loop (%%w: i32 = 0, %%y: f32 = %%s1) -> f32 {\n    %%y2 = fadd f32 %%y, %%v\n"
                         "    %%w2 = add i32 %%w, 1\n    %%wc = slt i32 %%w2, 3\n    if %%wc {\n"
                         "      continue %%w2, %%y2\n    }\n    break %%y2\n  }\n");
    else
        strbuf_printf(s, "  %%s3 = fadd f32 %%s1, %%v\n");
    strbuf_printf(s, "  %%s2 = fadd f32 %%s3, %%m\n");
    if (f->stores) strbuf_printf(s, "  store f32 %%o[%%i], %%s2\n");
}

static void write_loop(struct strbuf *s, const struct form *f)
{
    const char *left = f->uses_left ? "%k" : "%t2";
    bool top = f->test <= TOP_IN;
    strbuf_printf(s, "  %%rs, %%rt = loop (%%j: %s = %%first, %%s: f32 = 0.25, %%t: i32 = 7) -> f32, i32 {\n",
                  f->wide ? "i64" : "i32");
    if (top)
        write_condition(s, f, "c", "j");
    else
        write_round(s, f);
    if (!top) write_next(s, f);
    if (!top) write_condition(s, f, "c", f->next ? "j2" : "j");
    switch (f->test) {
    case TOP_OUT:
        if (f->not_less)
            strbuf_printf(s, "  if %%c {\n    break %%s, %%t\n  }\n");
        else
            strbuf_printf(s, "  if %%c {\n    yield\n  } else {\n    break %%s, %%t\n  }\n");
        write_round(s, f);
        write_next(s, f);
        strbuf_printf(s, "  continue %%j2, %%s2, %%t2\n");
        break;
    case TOP_IN:
        strbuf_printf(s, f->not_less ? "  if %%c {\n    yield\n  } else {\n" : "  if %%c {\n");
        write_round(s, f);
        write_next(s, f);
        strbuf_printf(s, "  continue %%j2, %%s2, %%t2\n  }\n  break %%s, %%t\n");
        break;
    case BOTTOM_ON:
        strbuf_printf(s, f->not_less ? "  if %%c {\n    yield\n  } else {\n" : "  if %%c {\n");
        strbuf_printf(s, "    continue %%j2, %%s2, %%t2\n  }\n  break %%s2, %s\n", left);
        break;
    default:
        strbuf_printf(s, f->not_less ? "  if %%c {\n" : "  if %%c {\n    yield\n  } else {\n");
        strbuf_printf(s, "    break %%s2, %s\n  }\n  continue %%j2, %%s2, %%t2\n", left);
    }
    strbuf_printf(s, "  }\n");
}

/* Under a guard the loop has what comes before and after it there, too. */
static void write_guarded(struct strbuf *s, const struct form *f)
{
    if (!f->is_guarded) {
        strbuf_printf(s, "  %%m = load f32 %%a[%%g]\n");
        write_loop(s, f);
        return;
    }
    write_condition(s, f, "guard", rng_chance(&(struct rng){f->bound}, 80) ? "first" : "one");
    strbuf_printf(s, "  %%gs, %%gt = if %%guard -> f32, i32 {\n");
    if (f->not_less) strbuf_printf(s, "    yield 3.0, 5\n  } else {\n");
    if (f->reads_written)
        strbuf_printf(s, "  %%m1 = load f32 %%r[%%id]\n  %%m = fmul f32 %%m1, 0.5\n  store f32 %%r[%%id], %%m\n");
    else
        strbuf_printf(s, "  %%m0 = elem f32 %%a, %%g\n  %%m = load f32 %%m0\n");
    write_loop(s, f);
    if (f->reads_written) strbuf_printf(s, "  %%m2 = fadd f32 %%m, 1.0\n  store f32 %%r[%%id], %%m2\n");
    strbuf_printf(s, "  %%rz = fadd f32 %%rs, %%m\n  yield %%rz, %%rt\n");
    if (!f->not_less) strbuf_printf(s, "  } else {\n    yield 3.0, 5\n");
    strbuf_printf(s, "  }\n");
}

static void write_kernel(struct strbuf *s, const struct form *f)
{
    const char *sum = f->is_guarded ? "gs" : "rs", *count = f->is_guarded ? "gt" : "rt";
    strbuf_printf(s,
                  "kernel @k(%%a: ptr.global f32 read, %%b: ptr.global i32 read, %%o: ptr.global f32, "
                  "%%r: ptr.global f32, %%n: %s) assumes(small_ids, small_memory) {\n",
                  f->wide ? "i64" : "i32");
    write_start(s, f);
    strbuf_printf(s, "  %%id = global_id x\n");
    if (f->in_loop) strbuf_printf(s, "  %%all = loop (%%u: i32 = 0, %%z: f32 = 0.0) -> f32 {\n");
    write_guarded(s, f);
    strbuf_printf(s, "  %%cf = stof f32 %%%s\n  %%q = fadd f32 %%%s, %%cf\n", count, sum);
    if (f->in_loop)
        strbuf_printf(s, "  %%z2 = fadd f32 %%z, %%q\n  %%u2 = add i32 %%u, 1\n  %%uc = slt i32 %%u2, 2\n  if %%uc {\n"
                         "    continue %%u2, %%z2\n  }\n  break %%z2\n  }\n");
    strbuf_printf(s, "  store f32 %%r[%%id], %%%s\n  return\n}\n", f->in_loop ? "all" : "q");
}

/* ---- the test ---- */

/* Whether its work-items begin rounds together in the code that is made. */
static bool becomes_rounds(const struct ir_function *kernel)
{
    struct ir_module *m = ir_module_new("rounds");
    struct ir_function *copy = ir_function_copy(m, kernel, kernel->name);
    bool does = pass_group_rounds.run(copy);
    ir_module_free(m);
    return does;
}

static void run(uint64_t seed)
{
    struct rng rng = {seed};
    struct form f = random_form(&rng);
    struct nd_range range = {1, {f.local * f.groups - f.rest, 1, 1}, {0}, {f.local, 1, 1}};
    int64_t bound = !f.is_unsigned && seed % 16 == 0 ? -5 : (int64_t)f.bound;
    struct strbuf text = {0};
    write_kernel(&text, &f);
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = numbers, .size = sizeof numbers},
                                {.kind = INTERP_ARG_BUFFER, .data = ints, .size = sizeof ints},
                                {.kind = INTERP_ARG_BUFFER, .data = rows_out, .size = sizeof rows_out},
                                {.kind = INTERP_ARG_BUFFER, .data = items_out, .size = sizeof items_out},
                                {.kind = INTERP_ARG_BYTES, .data = &bound, .size = f.wide ? 8 : 4}};
    struct ir_module *m = kit_parse(text.text);
    struct ir_function *kernel = kit_kernel(m);
    for (unsigned d = 0; d < 3; d++) kernel->work_group_size[d] = (uint32_t)range.local[d];
    if (nd_range_has_whole_groups(&range)) kernel->assumes |= IR_ASSUME_WHOLE_GROUPS;
    if (!becomes_rounds(kernel)) fail_msg("seed %llu: no rounds of\n%s", (unsigned long long)seed, text.text);
    kit_same_in_all_ways(kernel, &range, 1, seed % 2 ? KERNEL_LAUNCH_STREAM : 0, args, 5);
    ir_module_free(m);
    free(text.text);
}

static void rows(void **state)
{
    (void)state;
    for (int i = 0; i < NUMBERS; i++) {
        numbers[i] = (float)(i * 37 % 101) * 0.125f - 5;
        ints[i] = i * 11 % 7;
    }
    for (uint64_t seed = 1; seed <= test_cases(36); seed++) run(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows)};
    return cmocka_run_group_tests_name("diff_cpu_rows", tests, NULL, NULL);
}
