/* What is the same for all vectors of a row is computed before the first: the loop over them has nothing of it. */
#include "tests/support/compiled_kit.h"

/* Between bounds that are arguments: a vector is filled with each, and each is asked whether it is a NaN. */
static const char clip[] =
    "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32 write, %low: f32, %high: f32)\n"
    "        assumes(small_ids, small_memory) {\n"
    "  %i = global_id x\n  %ai = elem f32 %a, %i\n  %x = load f32 %ai\n  %y = fmax f32 %x, %low\n"
    "  %z = fmin f32 %y, %high\n  %oi = elem f32 %o, %i\n  store f32 %oi, %z\n  return\n}\n";

/* From a label to a jump back to it. */
struct stretch {
    const char *from, *to;
};

static bool has(struct stretch s, const char *word)
{
    const char *at = strstr(s.from, word);
    return at && at < s.to;
}

/* The next loop from a jump on, in assembly; false at the end. */
static bool next_loop(const char *text, const char **jump, struct stretch *loop)
{
    char label[32], line[40];
    while ((*jump = strstr(*jump, "\tj"))) {
        const char *at = (*jump)++;
        if (sscanf(at, " j%*s %30s", label) != 1 || label[0] != '.') continue;
        snprintf(line, sizeof line, "\n%s:", label);
        loop->from = strstr(text, line);
        loop->to = at;
        if (loop->from && loop->from < at) return true;
    }
    return false;
}

static void check_loops(enum cpu_isa isa)
{
    struct ir_module *m = kit_parse(clip);
    struct cpu_options options = {.target = cpu_target_host(isa), .keep_assembly = true};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kit_kernel(m), &options, &object, &list), 0);
    unsigned all = 0, lean = 0;
    struct stretch loop;
    for (const char *jump = object.assembly; next_loop(object.assembly, &jump, &loop);) {
        if (!has(loop, "maxps") || !has(loop, "minps")) continue;
        all++;
        lean += !has(loop, "broadcast") && !has(loop, "comiss");
    }
    print_message("# %s: %u loops over vectors, %u without anything of the bounds\n", cpu_isa_name(isa), all, lean);
    assert_true(lean > 0);
    cpu_object_clear(&object);
    ir_module_free(m);
}

static void vectors_are_filled_once(void **state)
{
    (void)state;
    enum cpu_isa isas[CPU_ISA_COUNT];
    unsigned n = compiled_isas(isas);
    for (unsigned i = 0; i < n; i++)
        if (isas[i] >= CPU_ISA_AVX2) check_loops(isas[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors_are_filled_once)};
    return cmocka_run_group_tests_name("cpu_invariants", tests, NULL, NULL);
}
