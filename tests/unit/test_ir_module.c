/* Modules built by hand: layouts, constants, float formats, edits, copies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/arena.h"
#include "ir/core/equal.h"
#include "ir/core/float.h"
#include "ir/features/usage.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "ir/verify/verify.h"

static struct ir_module *parse(const char *text)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), "t.fk", &list);
    if (!m) print_error("%s", list.items[0].text);
    diag_clear(&list);
    assert_non_null(m);
    return m;
}

/* ---- types ---- */

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        ir_type type;
        uint32_t size;
    } expected[] = {
        {IR_BOOL, 1},
        {IR_I8, 1},
        {IR_F16, 2},
        {IR_I32, 4},
        {IR_F64, 8},
        {IR_PTR(IR_SPACE_LOCAL), 8},
        {IR_TYPE(IR_KIND_F32, 2, 0), 8},
        {IR_TYPE(IR_KIND_F32, 3, 0), 16}, /* as a vector of 4 */
        {IR_TYPE(IR_KIND_I8, 3, 0), 4},
        {IR_TYPE(IR_KIND_F64, 16, 0), 128},
        {IR_TYPE(IR_KIND_BOOL, 8, 0), 8},
        {IR_TYPE(IR_KIND_IMAGE, 1, 1), 8},
    };
    struct ir_module *m = ir_module_new("m");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(ir_type_size(m, expected[i].type), expected[i].size);
        assert_int_equal(ir_type_align(m, expected[i].type), expected[i].size);
    }
    assert_int_equal(ir_type_size(m, IR_VOID), 0);
    assert_int_equal(ir_type_bits(IR_BOOL), 1);
    ir_module_free(m);
}

static void test_structs_and_arrays(void **state)
{
    (void)state;
    struct ir_module *m = ir_module_new("m");
    ir_type three = ir_array_type(m, IR_I16, 3);
    assert_int_equal(three, ir_array_type(m, IR_I16, 3));
    assert_int_not_equal(three, ir_array_type(m, IR_I16, 4));
    assert_int_equal(ir_type_size(m, three), 6);
    assert_int_equal(ir_type_align(m, three), 2);
    assert_int_equal(ir_type_size(m, ir_array_type(m, three, 5)), 30);

    struct ir_struct *s = ir_struct_new(m, "S", 4);
    s->fields[0].type = IR_I8;
    s->fields[1].type = three;
    s->fields[2].type = IR_F64;
    s->fields[3].type = IR_I8;
    ir_struct_natural_layout(m, s);
    assert_int_equal(s->fields[0].offset, 0);
    assert_int_equal(s->fields[1].offset, 2);
    assert_int_equal(s->fields[2].offset, 8);
    assert_int_equal(s->fields[3].offset, 16);
    assert_int_equal(s->size, 24);
    assert_int_equal(s->align, 8);
    ir_type t = ir_struct_type(m, s);
    assert_ptr_equal(ir_type_struct(m, t), s);
    assert_ptr_equal(ir_module_find_struct(m, "S"), s);
    assert_null(ir_module_find_struct(m, "T"));
    assert_int_equal(ir_type_size(m, ir_array_type(m, t, 3)), 72);

    /* Beyond 64 bits sizes stop growing instead of wrapping. */
    ir_type huge = ir_array_type(m, IR_F64, UINT64_MAX / 2);
    assert_int_equal(ir_type_size(m, huge), UINT64_MAX);
    ir_module_free(m);
}

static void test_param_layout(void **state)
{
    (void)state;
    struct ir_module *m =
        parse("struct S { x: f32, y: f64, z: i8 }\n"
              "kernel @k(%a: i8, %p: ptr.global f32, %b: f32, %v: f32x3, %s: ptr.private struct S by_value,\n"
              "          %l: ptr.local f32, %im: image2d.read, %c: bool) {}\n");
    uint32_t offsets[8];
    static const uint32_t expected[] = {0, 8, 16, 32, 48, 72, 80, 88};
    assert_int_equal(ir_param_layout(m->functions[0], offsets), 96);
    assert_memory_equal(offsets, expected, sizeof expected);
    ir_module_free(m);
}

static void test_many_objects(void **state)
{
    (void)state;
    struct ir_module *m = ir_module_new("m");
    for (unsigned i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i);
        ir_function_new(m, name, IR_LINKAGE_EXPORT, IR_VOID, i % 4);
        assert_int_equal(ir_module_file(m, name), i + 1);
        assert_int_equal(ir_module_file(m, name), i + 1);
    }
    assert_int_equal(m->n_functions, 1000);
    assert_string_equal(ir_module_find(m, "f999")->name, "f999");
    assert_null(ir_module_find(m, "f1000"));
    ir_module_free(m);
    ir_module_free(NULL);
}

static void test_arena(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    unsigned char *pieces[600];
    for (size_t i = 0; i < 600; i++) {
        size_t size = i % 7 == 0 ? 5000 : i;
        pieces[i] = arena_alloc(a, size);
        assert_int_equal((uintptr_t)pieces[i] % 8, 0);
        for (size_t k = 0; k < size; k++) assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i & 0xff), size);
    }
    for (size_t i = 1; i < 600; i++) assert_int_equal(pieces[i][0], i & 0xff);
    arena_free(a);

    struct ir_module *m = ir_module_new("m");
    ir_function_new(m, "k", IR_LINKAGE_KERNEL, IR_VOID, 3);
    assert_in_range(arena_size(m->arena), 1, 4096);
    ir_module_free(m);
}

/* ---- constants and float formats ---- */

static void test_constants(void **state)
{
    (void)state;
    struct ir_module *m = ir_module_new("m");
    uint64_t n;
    assert_true(ir_value_uint(ir_const_int(m, IR_I8, (uint64_t)-1), &n));
    assert_int_equal(n, 0xff);
    assert_true(ir_value_uint(ir_const_bool(m, true), &n));
    assert_int_equal(n, 1);
    assert_false(ir_value_uint(ir_const_int(m, IR_TYPE(IR_KIND_I8, 2, 0), 1), &n));
    assert_false(ir_value_uint(ir_const_float(m, IR_F32, 1), &n));
    assert_int_equal(ir_const_float(m, IR_F32, 1)->of.lanes[0], 0x3f800000);
    assert_int_equal(ir_const_float(m, IR_TYPE(IR_KIND_F64, 3, 0), 1)->of.lanes[2], 0x3ff0000000000000);
    assert_int_equal(ir_const_float(m, IR_F16, 1)->of.lanes[0], 0x3c00);
    assert_true(ir_value_same(ir_const_int(m, IR_I32, 5), ir_const_int(m, IR_I32, 5)));
    assert_false(ir_value_same(ir_const_int(m, IR_I32, 5), ir_const_int(m, IR_I64, 5)));
    assert_false(ir_value_same(ir_undef(m, IR_I32), ir_undef(m, IR_I32)));
    ir_module_free(m);
}

/* What a half is, from its definition. */
static double half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 0x3ff;
    double magnitude = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    if (exponent == 31) magnitude = fraction ? (double)NAN : (double)INFINITY;
    return h & 0x8000 ? -magnitude : magnitude;
}

static void test_f16_to_float(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        float f = ir_f16_to_float((uint16_t)h);
        double expected = half_value((uint16_t)h);
        if (isnan(expected)) {
            assert_true(isnan(f));
            assert_int_equal(ir_f16_from_float(f), h | 0x200); /* the payload stays, quiet */
        } else {
            assert_true((double)f == expected && !signbit(f) == !(h & 0x8000));
            assert_int_equal(ir_f16_from_float(f), h);
        }
    }
}

/* Each boundary between neighbouring halves, exact and one step of a float to either side. */
static void test_f16_rounding(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x7c00; h++) {
        double low = half_value((uint16_t)h), high = h == 0x7bff ? 65536 : half_value((uint16_t)(h + 1));
        float middle = (float)((low + high) / 2); /* exact: a float has more than one bit more */
        uint32_t even = h & 1 ? h + 1 : h;
        assert_int_equal(ir_f16_from_float(middle), even);
        assert_int_equal(ir_f16_from_float(-middle), even | 0x8000);
        assert_int_equal(ir_f16_from_float(nextafterf(middle, 0)), h);
        assert_int_equal(ir_f16_from_float(nextafterf(middle, INFINITY)), h + 1);
        /* From double in one step: through float this would become the middle first. */
        double above = (double)middle * (1 + 0x1p-40), below = (double)middle * (1 - 0x1p-40);
        assert_int_equal(ir_float_bits(IR_KIND_F16, above), h + 1);
        assert_int_equal(ir_float_bits(IR_KIND_F16, below), h);
    }
    assert_int_equal(ir_f16_from_float(1e30f), 0x7c00);
    assert_int_equal(ir_f16_from_float(-INFINITY), 0xfc00);
    assert_int_equal(ir_f16_from_float(1e-30f), 0);
    assert_int_equal(ir_f16_from_float(-0.0f), 0x8000);
}

/* ---- builder and edits ---- */

static void test_builder(void **state)
{
    (void)state;
    struct ir_module *m = ir_module_new("m");
    struct ir_function *k = ir_function_new(m, "k", IR_LINKAGE_KERNEL, IR_VOID, 2);
    ir_function_set_param(k, 0, "a", IR_PTR(IR_SPACE_GLOBAL));
    ir_function_set_param(k, 1, "n", IR_I64);
    struct ir_value *a = k->params[0].value, *n = k->params[1].value;
    struct ir_builder b = ir_builder_at_end(k->body);
    struct ir_value *i = ir_build_id(&b, IR_OP_GLOBAL_ID, 0);
    struct ir_value *inside = ir_build2(&b, IR_OP_ULT, IR_I64, i, n);
    assert_int_equal(inside->type, IR_BOOL);
    struct ir_inst *branch = ir_build_if(&b, inside, NULL, 0);
    ir_build0(&b, IR_OP_RETURN, IR_VOID);
    struct ir_builder then = ir_builder_at_end(branch->blocks[0]), other = ir_builder_at_end(branch->blocks[1]);
    struct ir_value *x = ir_build_load(&then, IR_F32, a, i);
    struct ir_value *y = ir_build2(&then, IR_OP_FADD, IR_F32, x, ir_const_float(m, IR_F32, 1));
    ir_build_store(&then, IR_F32, a, i, y);
    ir_build0(&then, IR_OP_YIELD, IR_VOID);
    ir_build0(&other, IR_OP_YIELD, IR_VOID);
    assert_true(ir_verify(m, NULL));

    ir_value_set_name(k, x, "a");
    ir_value_set_name(k, y, "a");
    assert_string_equal(x->name, "a.1");
    assert_string_equal(y->name, "a.2");
    ir_value_set_name(k, y, "a.2");
    assert_string_equal(y->name, "a.2"); /* its own name is free for it */
    ir_value_set_name(k, i, NULL);

    struct ir_value *two = ir_const_float(m, IR_F32, 2);
    ir_replace_uses(k->body, y, two);
    struct ir_inst *store = branch->blocks[0]->last->prev;
    assert_ptr_equal(store->operands[1], two);
    ir_inst_remove(y->of.inst);
    ir_inst_move_before(inside->of.inst, i->of.inst);
    assert_ptr_equal(k->body->first, inside->of.inst);
    assert_false(ir_verify(m, NULL)); /* i is used before it is there */
    ir_inst_move_before(i->of.inst, k->body->first);
    assert_true(ir_verify(m, NULL));
    ir_module_free(m);
}

static void remove_unused(struct ir_inst *inst, void *data)
{
    unsigned *n = data;
    ++*n;
    if (inst->op == IR_OP_IF || inst->op == IR_OP_WORK_DIM) ir_inst_remove(inst);
}

static void test_walk(void **state)
{
    (void)state;
    struct ir_module *m = parse("kernel @k(%c: bool) {\n"
                                "  %a = work_dim\n"
                                "  loop { %b = work_dim; if %c { %d = work_dim }; break }\n"
                                "}\n");
    unsigned n = 0;
    ir_walk(m->functions[0]->body, remove_unused, &n);
    assert_int_equal(n, 6); /* the removed if is not entered */
    n = 0;
    ir_walk(m->functions[0]->body, remove_unused, &n);
    assert_int_equal(n, 3); /* loop, break, return */
    ir_module_free(m);
}

/* ---- aspects ---- */

static void test_aspects(void **state)
{
    (void)state;
    struct ir_module *m = parse("kernel @plain(%p: ptr.global) { %x = load f32 %p }\n"
                                "kernel @calls() { call @middle() }\n"
                                "func @middle() { call @deep() }\n"
                                "func @deep() { %x = fadd f64 1, 2 }\n"
                                "kernel @group(%p: ptr.global) { %x = load f16 %p; barrier sub_group }\n"
                                "kernel @atomics(%p: ptr.global) { atomic_add i64 %p, 1; atomic_fadd f32 %p, 1 }\n"
                                "func @generic(%p: ptr.generic, %i: image2d.read) {}\n");
    static const uint64_t expected[] = {
        0,
        IR_ASPECT_FP64,
        IR_ASPECT_FP64,
        IR_ASPECT_FP64,
        IR_ASPECT_FP16 | IR_ASPECT_SUB_GROUPS,
        IR_ASPECT_ATOMIC64 | IR_ASPECT_FLOAT_ATOMICS,
        IR_ASPECT_GENERIC_SPACE | IR_ASPECT_IMAGE,
    };
    for (uint32_t i = 0; i < m->n_functions; i++) assert_int_equal(ir_function_aspects(m->functions[i]), expected[i]);
    for (unsigned bit = 0; bit < IR_ASPECT_COUNT; bit++) assert_int_equal(ir_aspect_find(ir_aspect_name(bit)), bit);
    assert_int_equal(ir_aspect_find("nothing"), -1);
    assert_null(ir_aspect_name(IR_ASPECT_COUNT));
    ir_module_free(m);
}

/* ---- copies ---- */

static const char copied_text[] =
    "source \"k.cl\"\n"
    "struct Inner { v: [2 x f32] }\n"
    "struct P { x: f32, inner: struct Inner }\n"
    "constant @lut: [2 x f32] = { 1, 2 }\n"
    "local @tile: [8 x struct P]\n"
    "global @unused: i32\n"
    "func @helper(%x: f32) -> f32 { %y = fadd f32 %x, 1 !3 return %y }\n"
    "kernel @k(%p: ptr.global struct P read, %n: i64) work_group_size(8) aspects(cpu) !5 {\n"
    "  %l = global @lut !6\n"
    "  %t = global @tile\n"
    "  %f = field struct P %p, inner\n"
    "  %s = loop (%i: i64 = 0) -> f32 {\n"
    "    %d = uge i64 %i, %n\n"
    "    if %d { break 0.5 }\n"
    "    %x = load f32 %l[%i]\n"
    "    %h = call @helper(%x)\n"
    "    %more = add i64 %i, 1\n"
    "    continue %more\n"
    "  }\n"
    "  store f32 %f, %s\n"
    "}\n";

static void test_copy_into_another(void **state)
{
    (void)state;
    struct ir_module *from = parse(copied_text), *into = ir_module_new("into");
    struct ir_struct *other = ir_struct_new(into, "P", 1); /* another struct of that name */
    other->fields[0].type = IR_I8;
    ir_struct_natural_layout(into, other);
    struct ir_function *k = ir_function_copy(into, ir_module_find(from, "k"), NULL);
    ir_module_free(from); /* the copy stands alone */

    struct diag_list list = {0};
    bool valid = ir_verify(into, &list);
    if (!valid) print_error("%s", list.items[0].text);
    diag_clear(&list);
    assert_true(valid);
    assert_string_equal(k->name, "k");
    assert_int_equal(k->work_group_size[0], 8);
    assert_true(k->has_declared);
    assert_string_equal(into->files[k->loc.file - 1], "k.cl");
    assert_int_equal(into->n_structs, 3);
    assert_non_null(ir_module_find_struct(into, "P.1"));
    assert_int_equal(into->n_globals, 2);
    assert_int_equal(into->n_functions, 2);
    assert_int_equal(ir_type_struct(into, k->params[0].elem)->size, 12);
    char *text = ir_print_function(k);
    assert_non_null(strstr(text, "%s = loop (%i: i64 = 0) -> f32 {"));
    assert_non_null(strstr(text, "%f = field struct P.1 %p, inner"));
    assert_non_null(strstr(text, "%h = call @helper(%x)"));
    free(text);
    ir_module_free(into);
}

static void test_copy_twice(void **state)
{
    (void)state;
    struct ir_module *from = parse(copied_text), *into = ir_module_new("into");
    const struct ir_function *k = ir_module_find(from, "k");
    ir_function_copy(into, k, "first");
    struct ir_function *second = ir_function_copy(into, k, "first");
    assert_string_equal(second->name, "first.1");
    assert_int_equal(into->n_structs, 2);   /* found, as they are equal */
    assert_int_equal(into->n_functions, 3); /* the helper too */
    assert_int_equal(into->n_globals, 3);   /* constants are shared, local memory is not */
    assert_non_null(ir_module_find_global(into, "tile.1"));
    assert_true(ir_verify(into, NULL));
    ir_module_free(from);
    ir_module_free(into);
}

static void test_copy_within(void **state)
{
    (void)state;
    struct ir_module *m = parse(copied_text), *again = parse(copied_text);
    assert_true(ir_module_equal(m, again));
    struct ir_function *copy = ir_function_copy(m, ir_module_find(m, "k"), "k2");
    assert_int_equal(m->n_functions, 3);
    assert_int_equal(m->n_globals, 3);
    assert_true(ir_verify(m, NULL));
    assert_false(ir_module_equal(m, again));
    copy->name = "k";
    char *text = ir_print_function(copy), *original = ir_print_function(again->functions[1]);
    assert_string_equal(text, original);
    free(text);
    free(original);
    ir_module_free(m);
    ir_module_free(again);
}

/* Modules that differ in one thing are not equal. */
static void test_equal(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "source \"a\"\nkernel @k(%x: i32) {}\n",
        "source \"b\"\nkernel @k(%x: i32) !1 {}\n",
        "source \"a\"\nkernel @k(%y: i32) {}\n",
        "source \"a\"\nkernel @k(%x: i64) {}\n",
        "source \"a\"\nkernel @l(%x: i32) {}\n",
        "source \"a\"\nfunc @k(%x: i32) {}\n",
        "source \"a\"\nkernel @k(%x: i32) {}\nlocal @l: i32\n",
        "source \"a\"\nkernel @k(%x: i32) { %a = add i32 %x, 1 }\n",
        "source \"a\"\nkernel @k(%x: i32) { %a = add i32 %x, 2 }\n",
        "source \"a\"\nkernel @k(%x: i32) { %a = sub i32 %x, 2 }\n",
        "source \"a\"\nkernel @k(%x: i32) { %b = sub i32 %x, 2 }\n",
        "source \"a\"\nkernel @k(%x: i32) { %b = sub i32 %x, %x }\n",
        "source \"a\"\nkernel @k(%x: i32) { barrier }\n",
        "source \"a\"\nkernel @k(%x: i32) { barrier work_group, local }\n",
        "source \"a\"\nkernel @k(%x: i32) { if true {} }\n",
        "source \"a\"\nkernel @k(%x: i32) { loop {} }\n",
        "source \"a\"\nkernel @k(%x: i32) sub_group_size(8) {}\n",
        "module \"m\" source \"a\"\nkernel @k(%x: i32) {}\n",
    };
    enum { N = sizeof texts / sizeof *texts };
    struct ir_module *modules[N];
    for (int i = 0; i < N; i++) modules[i] = parse(texts[i]);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) assert_int_equal(ir_module_equal(modules[i], modules[k]), i == k);
    for (int i = 0; i < N; i++) ir_module_free(modules[i]);
}

/* ---- findings ---- */

static void test_diag(void **state)
{
    (void)state;
    struct diag_list list = {.limit = 3};
    diag_add(&list, "add", "body", 3, 0, "%d is wrong", 7);
    diag_add(&list, NULL, NULL, 3, 9, "at a column");
    diag_add(&list, NULL, NULL, 0, 0, "nowhere");
    diag_add(&list, NULL, NULL, 0, 0, "too many");
    diag_add(NULL, NULL, NULL, 0, 0, "nobody listens");
    char *text = diag_format(&list);
    assert_string_equal(text, "function add, block body, line 3: 7 is wrong\n"
                              "line 3, column 9: at a column\n"
                              "nowhere\n"
                              "and 1 more\n");
    free(text);
    diag_clear(&list);
    assert_int_equal(list.n, 0);
    diag_add(&list, NULL, NULL, 0, 0, "again");
    assert_int_equal(list.n, 1);
    diag_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_structs_and_arrays),
        cmocka_unit_test(test_param_layout), cmocka_unit_test(test_many_objects),
        cmocka_unit_test(test_arena),        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_f16_to_float), cmocka_unit_test(test_f16_rounding),
        cmocka_unit_test(test_builder),      cmocka_unit_test(test_walk),
        cmocka_unit_test(test_aspects),      cmocka_unit_test(test_copy_into_another),
        cmocka_unit_test(test_copy_twice),   cmocka_unit_test(test_copy_within),
        cmocka_unit_test(test_equal),        cmocka_unit_test(test_diag),
    };
    return cmocka_run_group_tests_name("ir_module", tests, NULL, NULL);
}
