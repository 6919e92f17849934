/* The generator of programs of groups keeps its word: valid, nobody waits in vain, no races, nothing unwritten or out
   of bounds is read, at any size of sub-groups the same every time; and it makes each of the operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/text/print/print.h"
#include "ir/verify/verify.h"
#include "tests/support/cases.h"
#include "tests/support/random_args.h"
#include "tests/support/random_spmd.h"

static void run(const struct random_spmd *p, const struct interp_arg *args, uint32_t size, uint64_t seed)
{
    struct interp_options options = {.check_races = true, .check_unwritten = true, .sub_group_size = size};
    struct interp_result result;
    int error = interp_run(p->kernel.function, &p->range, args, &options, &result);
    if (error || result.n_findings) {
        const struct interp_finding *f = result.findings;
        char *text = ir_print(p->kernel.module);
        fprintf(stderr, "%s\n", text);
        free(text);
        fail_msg("seed %llu: line %u: %s", (unsigned long long)seed, result.n_findings ? f->line : 0,
                 result.n_findings ? f->text : "refused");
    }
    interp_result_clear(&result);
}

static void check_seed(uint64_t seed)
{
    struct random_spmd p = random_spmd(seed);
    struct diag_list list = {0};
    if (!ir_verify(p.kernel.module, &list)) fail_msg("seed %llu: %s", (unsigned long long)seed, diag_format(&list));
    uint32_t size = 1u << seed % 7;
    struct interp_arg *args = random_args(&p.kernel, seed), *again = random_args(&p.kernel, seed);
    run(&p, args, size, seed);
    run(&p, again, size, seed);
    assert_true(random_args_equal(&p.kernel, args, again, "run again", seed));
    random_args_free(&p.kernel, again);
    random_args_free(&p.kernel, args);
    random_spmd_clear(&p);
}

static void programs_run_clean(void **state)
{
    (void)state;
    for (uint64_t seed = 1, n = test_cases(300); n--; seed++) check_seed(seed);
}

static void note(struct ir_inst *inst, void *data)
{
    bool *seen = data;
    seen[inst->op] = true;
}

static void each_operation_comes(void **state)
{
    (void)state;
    bool seen[IR_OP_COUNT] = {false};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct random_spmd p = random_spmd(seed);
        ir_walk(p.kernel.function->body, note, seen);
        random_spmd_clear(&p);
    }
    for (enum ir_op op = IR_OP_SUB_GROUP_SIZE; op <= IR_OP_BLOCK_WRITE; op++)
        if (!seen[op] && op != IR_OP_NUM_SUB_GROUPS) fail_msg("%s never comes", ir_op_info(op)->text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_run_clean),
        cmocka_unit_test(each_operation_comes),
    };
    return cmocka_run_group_tests_name("test_random_spmd", tests, NULL, NULL);
}
