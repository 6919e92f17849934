/* Float functions, as the interpreter has them, are as far from the right result as docs/ir.md says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/core/float.h"
#include "ir/core/ir.h"
#include "ir/eval/eval.h"
#include "tests/support/accuracy.h"

/* One instruction, evaluated. */
static double evaluate(enum ir_op op, ir_type t, double x, double y)
{
    struct ir_module *module = ir_module_new("m");
    struct ir_function *f = ir_function_new(module, "f", IR_LINKAGE_EXPORT, IR_VOID, 0);
    struct ir_builder b = ir_builder_at_end(f->body);
    struct ir_value *operands[2] = {ir_const_float(module, t, 1), ir_const_float(module, t, 1)};
    const char *letters = ir_op_info(op)->operands;
    bool whole = letters[1] == 'J';
    if (whole) operands[1] = ir_const_int(module, IR_I32, 1);
    struct ir_inst *inst = ir_build(&b, op, t, operands, (uint32_t)strlen(letters));
    uint64_t first = ir_float_bits(ir_type_kind(t), x), r = 0;
    uint64_t second = whole ? (uint32_t)(int32_t)y : ir_float_bits(ir_type_kind(t), y);
    assert_true(ir_eval(inst, (const uint64_t *const[]){&first, &second}, &r));
    ir_module_free(module);
    return ir_float_value(ir_type_kind(t), r);
}

static void errors_are_within_the_bounds(void **state)
{
    (void)state;
    assert_true(accuracy_is_within_bounds(evaluate, ACCURACY_EVERYWHERE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_are_within_the_bounds)};
    return cmocka_run_group_tests_name("math_accuracy", tests, NULL, NULL);
}
