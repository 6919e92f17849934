/* The text form: each syntax form and each operation through parser and printer and back; errors with their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/strbuf.h"
#include "ir/core/equal.h"
#include "ir/core/pipe_properties.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"

/* ---- help ---- */

static struct ir_module *parse_file(const char *text, const char *file)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), file, &list);
    if (!m) {
        char *findings = diag_format(&list);
        print_error("%s%s", text, findings);
        free(findings);
    }
    diag_clear(&list);
    assert_non_null(m);
    return m;
}

/* Parses, prints, parses again: equal, and the same text from then on. The first module is returned. */
static struct ir_module *round_trip(const char *text)
{
    struct ir_module *m = parse_file(text, "first.fk");
    char *printed = ir_print(m);
    struct ir_module *again = parse_file(printed, "second.fk");
    char *printed_again = ir_print(again);
    assert_true(ir_module_equal(m, again));
    assert_string_equal(printed, printed_again);
    free(printed);
    free(printed_again);
    ir_module_free(again);
    return m;
}

static char *body_of(const char *instructions)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "kernel @k(%%p: ptr.global, %%x: f32, %%i: i64, %%c: bool) {\n%s\n}\n", instructions);
    return strbuf_take(&b);
}

/* What the printer makes of instructions, without locations. */
static void assert_prints(const char *instructions, const char *expected)
{
    char *text = body_of(instructions), *wanted = body_of(expected);
    struct ir_module *m = round_trip(text);
    char *printed = ir_print_function(m->functions[0]);
    assert_string_equal(printed, wanted);
    free(printed);
    free(wanted);
    free(text);
    ir_module_free(m);
}

/* The text has exactly these findings: "line:column: text" each. */
static void assert_errors(const char *text, const char *const *expected, size_t n)
{
    struct diag_list list = {0};
    assert_null(ir_parse(text, strlen(text), "bad.fk", &list));
    for (size_t i = 0; i < list.n || i < n; i++) {
        struct strbuf b = {0};
        if (i < list.n) strbuf_printf(&b, "%u:%u: %s", list.items[i].line, list.items[i].column, list.items[i].text);
        char *found = strbuf_take(&b);
        assert_string_equal(found, i < n ? expected[i] : "");
        free(found);
    }
    diag_clear(&list);
}

#define ASSERT_ERRORS(text, ...)                                                                                       \
    assert_errors(text, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void assert_body_error(const char *instructions, const char *expected)
{
    char *text = body_of(instructions);
    assert_errors(text, &expected, 1);
    free(text);
}

/* ---- module items ---- */

static void test_items(void **state)
{
    (void)state;
    struct ir_module *m = round_trip(
        "module \"an \\\"image\\\"\\x01\"\n"
        "aspects { ext_amx = 9, fp16 = 77, ext_b = 8 }\n"
        "struct Point uses(fp16, ext_amx) { x: f32, y: f32 } // natural\n"
        "struct Odd { a: i8 @ 1, struct Point @ 4, nan: [2 x f16x3] @ 16, } size 48 align 16\n"
        "struct Packed { a: i8 @ 0, b: i32 @ 1 } align 1\n"
        "struct Empty {}\n"
        "local @tile: [256 x [2 x f32]]\n"
        "export global @counter: i64 align 64 = -1\n"
        "import constant @table: [4 x struct Odd]\n"
        "pipe @p: packet i32 capacity 64 host_access \"id\"\n"
        "pipe.read @q: packet struct Point capacity 1\n"
        "pipe @w: packet i32 capacity 2 host_access \"w\" protocol avalon_streaming uses_ready false ready_latency 3\n"
        "  uses_valid true bits_per_symbol 16 first_symbol_in_high_order_bits true align 64\n"
        "import func @far(%x: f32, %1: ptr.private [3 x i8] by_value read) -> f32\n"
        "export func @near() -> i8x16 { return 3 }\n"
        "func @f(%im: image2d.read_write, %s: sampler, %q: pipe.write) {}\n"
        "kernel @k(%a: ptr.global f32 read_write, %l: ptr.local) work_group_size(8, 4)\n"
        "  work_group_size_hint(1, 2, 3) sub_group_size(automatic) aspects()\n"
        "  targets(\"cpu\", \"gpu\") {}\n"
        "kernel @k2() sub_group_size(16) sub_groups_per_work_group(3) aspects(fp64, gpu)\n"
        "  assumes(small_ids, small_memory) {}\n"
        "kernel @k3() aspects(ext_amx, cpu) uses(ext_b, ext_amx, emulated) targets() compiled(\"x86_64\") {}\n"
        "kernel @k4() compiled() {}\n");
    assert_int_equal(m->structs[0]->aspects_used, IR_ASPECT_FP16 | (uint64_t)1 << IR_ASPECT_COUNT);
    const struct ir_function *k3 = ir_module_find(m, "k3");
    assert_true(k3->has_targets && !k3->n_targets);
    assert_false(ir_module_find(m, "k2")->has_targets);
    assert_true(k3->has_compiled && k3->n_compiled == 1);
    assert_true(ir_module_find(m, "k4")->has_compiled && !ir_module_find(m, "k4")->n_compiled);
    assert_false(ir_module_find(m, "k2")->has_compiled);
    assert_string_equal(ir_module_aspect_name(m, IR_ASPECT_COUNT), "ext_amx");
    assert_int_equal(ir_module_aspect_number(m, IR_ASPECT_COUNT), 9);
    assert_int_equal(ir_module_aspect_number(m, IR_ASPECT_BIT_FP16), 77);
    assert_int_equal(ir_module_aspect_number(m, IR_ASPECT_BIT_FP64), 6);
    assert_string_equal(m->name, "an \"image\"\x01");
    assert_int_equal(m->n_structs, 4);
    assert_int_equal(m->structs[0]->size, 8);
    assert_int_equal(m->structs[1]->fields[2].offset, 16);
    assert_null(m->structs[1]->fields[1].name);
    assert_int_equal(m->structs[2]->size, 8); /* the end, rounded up to the natural alignment */
    assert_int_equal(m->structs[2]->align, 1);
    assert_int_equal(m->globals[1]->linkage, IR_LINKAGE_EXPORT);
    assert_int_equal(m->globals[1]->align, 64);
    assert_int_equal(m->globals[1]->init[7], 0xff);
    assert_int_equal(m->globals[3]->capacity, 64);
    assert_string_equal(m->globals[3]->host_access, "id");
    assert_int_equal(m->globals[3]->n_properties, 0);
    assert_int_equal(ir_pipe_property(m->globals[3], IR_PIPE_BITS_PER_SYMBOL), 8);
    assert_int_equal(m->globals[5]->n_properties, IR_PIPE_PROPERTY_COUNT);
    assert_int_equal(m->globals[5]->align, 64);
    static const uint32_t values[] = {3, 16, 1, 0, 1, IR_PIPE_AVALON_STREAMING};
    for (unsigned i = 0; i < IR_PIPE_PROPERTY_COUNT; i++)
        assert_int_equal(ir_pipe_property(m->globals[5], i), values[i]);
    const struct ir_function *far = ir_module_find(m, "far"), *k = ir_module_find(m, "k");
    assert_true(far->params[1].by_value);
    assert_null(far->params[1].value->name);
    assert_int_equal(far->params[1].access, IR_ACCESS_READ);
    assert_int_equal(k->work_group_size[2], 1);
    assert_int_equal(k->sub_group_size, IR_SUB_GROUP_AUTOMATIC);
    assert_true(k->has_declared && !k->aspects_declared);
    assert_int_equal(k->n_targets, 2);
    assert_int_equal(ir_module_find(m, "k2")->sub_groups_per_work_group, 3);
    assert_int_equal(ir_module_find(m, "k2")->aspects_declared, IR_ASPECT_FP64 | IR_ASPECT_GPU);
    assert_int_equal(ir_module_find(m, "k2")->assumes, IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY);
    ir_module_free(m);
}

static void test_initial_values(void **state)
{
    (void)state;
    struct ir_module *m = round_trip("struct P { x: f32, y: i16, z: i16 }\n"
                                     "struct Padded { x: i8, y: i32 }\n"
                                     "constant @a: [4 x f32] = { 1, -0.0, 0.1, 0x7fc00001 }\n"
                                     "constant @b: [2 x struct P] = { { 1.5, -1, 2 }, { inf, 0, 0 } }\n"
                                     "constant @c: [2 x f32x4] = { <1, 2, 3, 4>, 0 }\n"
                                     "constant @d: struct Padded = { 1, 2 }\n"
                                     "constant @e: [3 x i8] = hex\"00fF7f\"\n"
                                     "constant @f: [2 x bool] = { true, false }\n"
                                     "constant @g: ptr.global = null\n"
                                     "constant @h: f32x3 = <1, 2, 3>\n"
                                     "constant @none: i32\n"
                                     "constant @zero: i32 = 0\n");
    static const uint8_t point[] = {0, 0, 0xc0, 0x3f, 0xff, 0xff, 2, 0};
    assert_memory_equal(m->globals[1]->init, point, sizeof point);
    assert_int_equal(m->globals[3]->init[4], 2);
    assert_int_equal(m->globals[4]->init[1], 0xff);
    assert_null(m->globals[8]->init);
    assert_non_null(m->globals[9]->init);
    ir_module_free(m);
}

/* ---- instructions ---- */

static void test_sugar(void **state)
{
    (void)state;
    assert_prints("%v = load f32 %p[%i]; store f32 %p[3], %v, volatile, align 4\n"
                  "atomic_add i32 %p[0], 1\n"
                  "if %c { barrier }",
                  "    %0 = elem f32 %p, %i\n"
                  "    %v = load f32 %0\n"
                  "    %1 = elem f32 %p, 3\n"
                  "    store f32 %1, %v, align 4, volatile\n"
                  "    %2 = elem i32 %p, 0\n"
                  "    %3 = atomic_add i32 %2, 1, device\n"
                  "    if %c {\n"
                  "        barrier work_group\n"
                  "        yield\n"
                  "    }\n"
                  "    return");
}

static void test_constants(void **state)
{
    (void)state;
    assert_prints("%a = add i8 255, 0x7f\n"
                  "%b = add i64 -9223372036854775808, 18446744073709551615\n"
                  "%d = fadd f32 1, 0.1\n"
                  "%e = fadd f16 0.1, 65504\n"
                  "%f = fadd f64 0.1, 5e-324\n"
                  "%g = fadd f32 inf, -inf\n"
                  "%h = fadd f32x2 <1, 2.5>, 3\n"
                  "%j = and boolx2 <true, false>, true\n"
                  "%k = select ptr.global %c, %p, null\n"
                  "%l = ftos i32 f64 2.5, rtp, saturate\n"
                  "%m = select f32x4 bool true, undef, 0\n"
                  "%n = elem f32 %p, i32 7\n"
                  "%o = fadd f32 nan, -0.0\n"
                  "%q = nan f32 1",
                  "    %a = add i8 -1, 127\n"
                  "    %b = add i64 -9223372036854775808, -1\n"
                  "    %d = fadd f32 1.0, 0.1\n"
                  "    %e = fadd f16 0.1, 65504.0\n"
                  "    %f = fadd f64 0.1, 5e-324\n"
                  "    %g = fadd f32 0x7f800000, 0xff800000\n"
                  "    %h = fadd f32x2 <1.0, 2.5>, 3.0\n"
                  "    %j = and boolx2 <true, false>, true\n"
                  "    %k = select ptr.global %c, %p, null\n"
                  "    %l = ftos i32 f64 2.5, rtp, saturate\n"
                  "    %m = select f32x4 bool true, undef, 0.0\n"
                  "    %n = elem f32 %p, i32 7\n"
                  "    %o = fadd f32 0x7fc00000, -0.0\n"
                  "    %q = nan f32 1\n"
                  "    return");
}

static void test_control_flow(void **state)
{
    (void)state;
    struct ir_module *m = round_trip("func @late_caller(%x: f32) -> f32 {\n"
                                     "  %a, %b = loop (%acc: f32 = %x, %n: i64 = 0) -> f32, i64 {\n"
                                     "    %done = sge i64 %n, 10\n"
                                     "    if %done { break %acc, 7 }\n"
                                     "    %v, %w = if %done -> f32, i64 { yield 1, %n } else { yield %acc, 2 }\n"
                                     "    loop { loop { break }; break }\n"
                                     "    loop { if true { continue } else { unreachable } }\n"
                                     "    continue %v, %w\n"
                                     "  }\n"
                                     "  call @nothing()\n"
                                     "  %r = call @later(%a, 1.5)\n"
                                     "  return %r\n"
                                     "}\n"
                                     "func @later(%x: f32, %y: f32) -> f32 { return 2 }\n"
                                     "func @nothing() {}\n");
    struct ir_inst *loop = m->functions[0]->body->first;
    assert_int_equal(loop->op, IR_OP_LOOP);
    assert_int_equal(loop->n_results, 2);
    assert_string_equal(loop->results[1]->name, "b");
    assert_string_equal(loop->blocks[0]->args[0]->name, "acc");
    assert_int_equal(loop->blocks[0]->last->op, IR_OP_CONTINUE);
    ir_module_free(m);
}

static void test_locations(void **state)
{
    (void)state;
    const char *text = "kernel @k(%c: bool) !\"other.cl\":7 {\n"
                       "  %a = work_dim\n"
                       "  %b = work_dim !12\n"
                       "  if %c !\"other.cl\":13 {\n"
                       "  }\n"
                       "  return !none:0\n"
                       "}\n";
    struct ir_module *m = round_trip(text);
    const struct ir_function *k = m->functions[0];
    const struct ir_inst *a = k->body->first, *b = a->next, *c = b->next;
    assert_string_equal(m->files[k->loc.file - 1], "other.cl");
    assert_int_equal(k->loc.line, 7);
    assert_string_equal(m->files[a->loc.file - 1], "first.fk");
    assert_int_equal(a->loc.line, 2);
    assert_int_equal(b->loc.line, 12);
    assert_string_equal(m->files[c->loc.file - 1], "other.cl");
    assert_int_equal(c->blocks[1]->first->loc.line, 5);
    assert_int_equal(c->next->loc.file, 0);
    assert_int_equal(c->next->loc.line, 0);
    ir_module_free(m);

    m = parse_file("source \"s.cl\"\nkernel @k() {\n %a = work_dim\n %b = work_dim !4\n %c = work_dim\n}\n", "x.fk");
    a = m->functions[0]->body->first;
    assert_string_equal(m->files[a->loc.file - 1], "s.cl");
    assert_int_equal(a->loc.line, 0);
    assert_int_equal(a->next->next->loc.line, 4);
    ir_module_free(m);
}

/* ---- each operation of the table ---- */

static bool has_own_text(enum ir_op op)
{
    return op >= IR_OP_CALL; /* control flow, see test_control_flow() */
}

static const char *type_for(enum ir_op op, char type_class)
{
    if (op == IR_OP_PTRTOINT) return "i64";
    if (op == IR_OP_IEQ || op == IR_OP_INE) return "i8x3";
    if (op == IR_OP_ATOMIC_FADD || op == IR_OP_ATOMIC_FMIN || op == IR_OP_ATOMIC_FMAX) return "f32";
    switch (type_class) {
    case 'i':
    case 'a':
    case 'l': return "i32";
    case 'f':
    case 'v': return "f32x4";
    case 's': return "struct P";
    default: return "f32";
    }
}

static const char *source_of(enum ir_op op)
{
    switch (op) {
    case IR_OP_FPCONV: return "f64x4 undef";
    case IR_OP_STOF:
    case IR_OP_UTOF: return "i16x4 undef";
    case IR_OP_FTOS:
    case IR_OP_FTOU: return "f64 undef";
    case IR_OP_ZEXT:
    case IR_OP_SEXT: return "bool true";
    default: return "i64 -1";
    }
}

static const char *operand_for(enum ir_op op, char letter)
{
    switch (letter) {
    case 'P': return "%p";
    case 'Q': return "%pipe";
    case 'M': return "%image";
    case 'S': return "%sampler";
    case 'N': return source_of(op);
    case 'X': return "i32 7";
    default: return "undef";
    }
}

static const char *attr_for(enum ir_op op, char letter)
{
    bool loads = op == IR_OP_ATOMIC_LOAD, stores = op == IR_OP_ATOMIC_STORE || op == IR_OP_ATOMIC_CLEAR;
    switch (letter) {
    case 'd': return "y";
    case 's': return "sub_group";
    case 'o': return loads ? "acquire" : stores ? "release" : "seq_cst";
    case 'O': return "fail acquire";
    case 'r': return "rtz";
    case 't': return "saturate";
    case 'a': return "align 64";
    case 'v': return "volatile";
    case 'g': return "smax";
    case 'f': return "contract, fast, nnan, ninf, nsz";
    case 'k': return "local, global, image";
    case 'p': return op == IR_OP_VAR ? NULL : op == IR_OP_GLOBAL ? NULL : "generic";
    case 'x': return "y";
    case 'm': return "[0, 7, -1, 2]";
    case 'y': return "@tile";
    default: return NULL;
    }
}

static void add_item(struct strbuf *b, bool *first, const char *item)
{
    if (!item) return;
    strbuf_add(b, *first ? " " : ", ");
    strbuf_add(b, item);
    *first = false;
}

/* One that has what the operation asks for. */
static const char *image_for(enum ir_op op)
{
    return op == IR_OP_IMAGE_DEPTH ? "image3d" : op == IR_OP_IMAGE_ARRAY_SIZE ? "image1d_array" : "image2d";
}

static char *text_for(enum ir_op op)
{
    const struct ir_op_info *info = ir_op_info(op);
    struct strbuf b = {0};
    strbuf_printf(&b,
                  "struct P { x: f32, y: f32 }\nlocal @tile: f32\n"
                  "func @f(%%p: ptr.global, %%image: %s.read_write, %%sampler: sampler,\n"
                  "        %%pipe: pipe.read_write) {\n%s%s",
                  image_for(op), info->result == '-' ? "" : "%r = ", info->text);
    if (info->type_class != '-') strbuf_printf(&b, " %s", type_for(op, info->type_class));
    bool first = true;
    for (const char *letter = info->operands; *letter; letter++) {
        if (*letter == '?' || letter[1] == '?') continue;
        if (*letter == '*') { /* vec */
            for (int i = 0; i < 4; i++) add_item(&b, &first, "undef");
        } else {
            add_item(&b, &first, operand_for(op, *letter));
        }
    }
    for (const char *letter = info->attrs; *letter; letter++) add_item(&b, &first, attr_for(op, *letter));
    strbuf_add(&b, "\n}\n");
    return strbuf_take(&b);
}

/* Coordinates have as many lanes as the image asks for, constants too. */
static void test_images(void **state)
{
    (void)state;
    struct ir_module *m = round_trip(
        "kernel @k(%a: image1d.read, %b: image1d_array.write, %c: image1d_buffer.read_write, %d: image2d.read,\n"
        "          %e: image2d_array.read_write, %f: image3d.read, %s: sampler) {\n"
        "    %x = image_read f32x4 %a, 3, %s\n"
        "    image_write f32x4 %b, <1, 2>, %x\n"
        "    %y = image_read i32x4 %c, 7\n"
        "    %z = image_read f32x4 %d, f32x2 <0.5, 1>, %s\n"
        "    image_write i32x4 %e, <1, 2, 3>, %y\n"
        "    %w = image_read f32x4 %f, f32x3 <1, 2, 3>, %s\n"
        "    %h = image_height %e\n"
        "    %n = image_depth %f\n"
        "    %l = image_array_size %b\n"
        "}\n");
    static const enum ir_image_form forms[] = {IR_IMAGE_1D, IR_IMAGE_1D_ARRAY, IR_IMAGE_1D_BUFFER,
                                               IR_IMAGE_2D, IR_IMAGE_2D_ARRAY, IR_IMAGE_3D};
    const struct ir_inst *inst = m->functions[0]->body->first;
    for (unsigned i = 0; i < 6; i++, inst = inst->next) {
        assert_int_equal(ir_type_image_form(m->functions[0]->params[i].value->type), forms[i]);
        assert_int_equal(ir_type_lanes(inst->operands[1]->type), ir_image_coordinates(forms[i]));
    }
    ir_module_free(m);
}

static void test_each_operation(void **state)
{
    (void)state;
    for (unsigned op = 0; op < IR_OP_COUNT; op++) {
        assert_int_equal(ir_op_find(ir_op_info((enum ir_op)op)->text), op);
        if (has_own_text((enum ir_op)op)) continue;
        char *text = text_for((enum ir_op)op);
        struct ir_module *m = round_trip(text);
        const struct ir_inst *inst = m->functions[0]->body->first;
        assert_int_equal(inst->op, op);
        assert_int_equal(inst->n_results, ir_op_info(inst->op)->result != '-');
        char *line = ir_print_inst(inst);
        assert_non_null(strstr(line, ir_op_info(inst->op)->text));
        free(line);
        free(text);
        ir_module_free(m);
    }
}

/* ---- errors ---- */

static void test_head_errors(void **state)
{
    (void)state;
    ASSERT_ERRORS("module \"bad\n", "1:8: expected the name of the module, found a string without an end");
    ASSERT_ERRORS("struct A { x: f33 }\nlocal @t: [4 x f32\nkernel @k() {}\nkernel @k() {}\n",
                  "1:15: expected a type, found f33 (did you mean `f32`?)", "3:1: expected ], found kernel",
                  "4:8: the name k is taken already");
    ASSERT_ERRORS("kernel @k(%a: ptr.global f32 write) {\n  %i = global_id x\n\tstore f32 %a[%i], %i\n}\n",
                  "3:2: store: operand 1 is i64, must be f32"); /* of the verifier */
    ASSERT_ERRORS("struct A { x: struct A }\n", "1:22: there is no struct A above");
    ASSERT_ERRORS("kernel @k(%x: ptr.global f23) {}\n", "1:26: expected , or ), found f23 (did you mean `f32`?)");
    ASSERT_ERRORS("kernel @k(%x: ptr.global f32 raed) {}\n",
                  "1:30: expected , or ), found raed (did you mean `read`?)");
    ASSERT_ERRORS("kernel @k(%x: ptr.global float) {}\n", "1:26: expected , or ), found float (did you mean `f32`?)");
    ASSERT_ERRORS("kernal @k() {}\n",
                  "1:1: expected module, source, aspects, struct, a variable, pipe, func or kernel, "
                  "found kernal (did you mean `kernel`?)");
    ASSERT_ERRORS("struct A { x: i8 @ 0, y: i8 }\n", "1:23: either all fields have offsets or none has");
    ASSERT_ERRORS("pipe @p: packet i32 capacity 4 uses_valid 1\n", "1:43: expected uses_valid, found 1");
    ASSERT_ERRORS("pipe @p: packet i32 capacity 4 uses_valid true protocol avalon_mm uses_valid true\n",
                  "1:67: uses_valid twice");
    ASSERT_ERRORS("hello\n",
                  "1:1: expected module, source, aspects, struct, a variable, pipe, func or kernel, found hello");
    ASSERT_ERRORS("kernel @k(%a: f32, %a: f32) {}\n", "1:20: the name a is taken already");
    ASSERT_ERRORS("kernel @k() work_grup_size(1) {}\n",
                  "1:13: expected an attribute of the function or {, found work_grup_size");
    /* Each attribute once, and none that stands for something else than it says. */
    ASSERT_ERRORS("kernel @k() sub_group_size(8) sub_group_size(16) {}\n",
                  "1:31: attribute sub_group_size is given twice");
    ASSERT_ERRORS("kernel @k() sub_group_size(primary) sub_group_size(primary) {}\n",
                  "1:37: attribute sub_group_size is given twice");
    ASSERT_ERRORS("kernel @k() work_group_size(8) work_group_size(8) {}\n",
                  "1:32: attribute work_group_size is given twice");
    ASSERT_ERRORS("kernel @k() targets(\"a\") aspects() targets(\"b\") {}\n", "1:36: attribute targets is given twice");
    ASSERT_ERRORS("kernel @k() sub_group_size(0) {}\n", "1:28: a sub-group size of 0, which is no power of two");
    ASSERT_ERRORS("kernel @k() sub_group_size(2147483646) {}\n",
                  "1:28: a sub-group size of 2147483646, which is no power of two");
    ASSERT_ERRORS("kernel @k() sub_group_size(2147483647) {}\n",
                  "1:28: a sub-group size of 2147483647, which is no power of two");
    ASSERT_ERRORS("kernel @k() work_group_size(0, 0, 0) {}\n", "1:29: a size must not be 0");
    ASSERT_ERRORS("kernel @k() assumes(luck) {}\n", "1:21: expected an assumption, found luck");
    ASSERT_ERRORS("kernel @k() sub_groups_per_work_group(0) {}\n", "1:39: a number must not be 0");
    ASSERT_ERRORS("aspects { fp16 = 1, fp16 = 2 }\n", "1:21: the aspect fp16 has a number already");
    ASSERT_ERRORS("kernel @k() aspects(fp65) {}\n", "1:21: expected the name of an aspect, found fp65");
    ASSERT_ERRORS("constant @a: [2 x i8] = { 1 }\n", "1:25: 1 of the 2 values of [2 x i8]");
    ASSERT_ERRORS("constant @a: [2 x i8] = { 1, 2, 3 }\n", "1:33: more than the 2 values of [2 x i8]");
    ASSERT_ERRORS("constant @a: [2 x i8] = hex\"00\"\n", "1:28: 2 digits, but 2 bytes take 4");
    ASSERT_ERRORS("constant @a: [99999999 x i8] = { 1 }\n",
                  "1:32: the initial value would take 99999999 bytes, far more than its text");
    ASSERT_ERRORS("source \"a\"\nsource none\n", "2:1: source can be given only once");
}

static void test_body_errors(void **state)
{
    (void)state;
    assert_body_error("%a = fadd f32 %y, 1", "2:15: %y is not defined above");
    assert_body_error("%a = fadd f32 %a, 1", "2:15: %a is not defined above");
    assert_body_error("%a = fadd f32 %x", "2:6: fadd takes 2 operands, here is 1");
    assert_body_error("%a = fadd f32 %x, 1, 2", "2:22: fadd takes no more than 2 operands");
    assert_body_error("%a = fadd %x, 1", "2:11: expected a type, found %x");
    assert_body_error("%a = frob f32 %x", "2:6: expected an instruction, found frob");
    assert_body_error("%a = fdad f32 %x, 1", "2:6: expected an instruction, found fdad (did you mean `fadd`?)");
    assert_body_error("%a = global_idd x",
                      "2:6: expected an instruction, found global_idd (did you mean `global_id`?)");
    assert_body_error("%a = fadd float %x, 1", "2:11: expected a type, found float (did you mean `f32`?)");
    assert_body_error("%long = work_dim\n%a = add i64 %lnog, 1",
                      "3:14: %lnog is not defined above (did you mean `long`?)");
    assert_body_error("%a = add i8 300, 1", "2:13: 300 is out of the range of its type, i8");
    assert_body_error("%a = add i8 1.5, 1", "2:13: 1.5 is not a whole number, i8");
    assert_body_error("%a = fadd f32x2 <1, 2, 3>, 1", "2:17: the vector has more than the 2 lanes of its type");
    assert_body_error("%a = fadd f32x3 <1, 2>, 1", "2:17: the vector has 2 of the 3 lanes of its type");
    assert_body_error("%a = elem f32 null, 1",
                      "2:15: a constant needs its type written before it here, as in i32 null");
    assert_body_error("%x = work_dim", "2:1: the name %x is taken already in line 1; names are unique in a function");
    assert_body_error("loop {\n%q = work_dim\nbreak }\n%r = neg i32 %q",
                      "5:14: %q of line 3 cannot be used here: its block has ended");
    assert_body_error("%a = if %c -> f32 { yield 1 }", "2:6: an if with results needs an else block too");
    assert_body_error("%a, %b = fadd f32 1, 2", "2:1: fadd has 1 result, but 2 names before the =");
    assert_body_error("call @nope()", "2:6: there is no function @nope");
    assert_body_error("%g = global @nope", "2:13: there is no variable or pipe @nope");
    assert_body_error("%v = shuffle f32x2 undef, undef, [0]", "2:34: the mask has 1 of the 2 lanes of the result");
    assert_body_error("%v = shuffle f32x2 undef, undef", "2:6: shuffle lacks a mask of lanes, as in [0, 1, 2, 3]");
    assert_body_error("barrier work_grup", "2:9: expected an operand or attribute of barrier, found work_grup");
    assert_body_error("loop (%j: i64 = %x) { break }", "2:17: %j is a i64 but starts as a f32");
    assert_body_error("%a = work_dim $", "2:15: expected the end of the line, found $");
    assert_body_error("store f32 %p, \x01", "2:15: expected an operand or attribute of store, found the byte 0x01");
}

/* One error does not hide the next, and causes no others. */
static void test_many_errors(void **state)
{
    (void)state;
    ASSERT_ERRORS("kernel @k() {\n"
                  "  %a = fadd f32 %none, 1\n"
                  "  %b = fadd f32 %a, %a\n"
                  "  if %none { %c = oops } else {\n"
                  "    %d = add i32 1\n"
                  "  }\n"
                  "  loop {\n"
                  "kernel @l() {\n"
                  "  %e = neg f32\n"
                  "}\n",
                  "2:17: %none is not defined above", "4:19: expected an instruction, found oops",
                  "5:10: add takes 2 operands, here is 1", "7:8: this block has no end",
                  "9:8: neg takes 1 operand, here are 0");
}

static void test_verified(void **state)
{
    (void)state;
    struct diag_list list = {0};
    const char *text = "kernel @k() {\n  %a = fadd i32 1, 2\n}\n";
    assert_null(ir_parse(text, strlen(text), "x", &list));
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].line, 2);
    assert_string_equal(list.items[0].function, "k");
    diag_clear(&list);
}

static char *repeat(const char *head, const char *part, size_t n, const char *tail)
{
    struct strbuf b = {0};
    strbuf_add(&b, head);
    while (n--) strbuf_add(&b, part);
    strbuf_add(&b, tail);
    return strbuf_take(&b);
}

static void assert_first_error(char *text, const char *expected)
{
    struct diag_list list = {0};
    assert_null(ir_parse(text, strlen(text), "x", &list));
    assert_string_equal(list.items[0].text, expected);
    diag_clear(&list);
    free(text);
}

static void test_limits(void **state)
{
    (void)state;
    assert_first_error(repeat("kernel @k() {", "loop {", 100000, ""),
                       "blocks are more than 256 deep inside each other");
    assert_first_error(repeat("local @a: ", "[1 x ", 100000, "i8"), "arrays are more than 64 deep inside each other");
    char *ends = repeat("", "}", 256, "");
    char *text = repeat("kernel @k() {", "loop {", 255, ends);
    free(ends);
    struct ir_module *m = round_trip(text);
    ir_module_free(m);
    free(text);
}

/* Any prefix of a text, and the text with any byte changed, is read or refused, never worse. */
static void test_damaged(void **state)
{
    (void)state;
    static const char text[] = "struct P { x: f32 @ 0 } size 4\nconstant @c: [2 x i8] = hex\"0102\"\n"
                               "kernel @k(%p: ptr.global f32 read) aspects(cpu) {\n"
                               "%a, %b = loop (%i: i64 = 0) -> f32, i64 { break 0x1, -2 }\n"
                               "store f32 %p[%b], %a, align 4 !\"f\":3\n}\n";
    static const char bytes[] = {0, '{', '}', '"', '%', '9', '\n', (char)0xff};
    size_t n = sizeof text - 1;
    for (size_t i = 0; i <= n; i++) {
        struct diag_list list = {0};
        ir_module_free(ir_parse(text, i, NULL, &list));
        for (size_t k = 0; i < n && k < sizeof bytes; k++) {
            char *copy = malloc(n);
            memcpy(copy, text, n);
            copy[i] = bytes[k];
            struct ir_module *m = ir_parse(copy, n, NULL, &list);
            assert_true(m || list.n);
            ir_module_free(m);
            diag_clear(&list);
            free(copy);
        }
        diag_clear(&list);
    }
}

/* ---- the reference ---- */

static char *read_reference(void)
{
    const char *root = getenv("FUSIOND_SOURCE_ROOT");
    if (!root) skip();
    struct strbuf path = {0}, text = {0};
    strbuf_printf(&path, "%s/docs/ir.md", root);
    FILE *f = fopen(path.text, "r");
    assert_non_null(f);
    char buf[4096];
    for (size_t n; (n = fread(buf, 1, sizeof buf, f));) strbuf_add_bytes(&text, buf, n);
    fclose(f);
    free(strbuf_take(&path));
    return strbuf_take(&text);
}

/* Each module in docs/ir.md is one, and each operation is described there. */
static void test_reference(void **state)
{
    (void)state;
    char *text = read_reference();
    unsigned n = 0;
    for (char *at = text; (at = strstr(at, "```\nmodule ")); n++) {
        at += 4;
        char *end = strstr(at, "```");
        assert_non_null(end);
        *end = 0;
        ir_module_free(round_trip(at));
        *end = '`';
        at = end + 3;
    }
    assert_int_equal(n, 5);
    for (unsigned op = 0; op < IR_OP_COUNT; op++) {
        struct strbuf row = {0};
        strbuf_printf(&row, "\n| `%s` |", ir_op_info((enum ir_op)op)->text);
        assert_non_null(strstr(text, row.text));
        free(row.text);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),          cmocka_unit_test(test_initial_values),
        cmocka_unit_test(test_sugar),          cmocka_unit_test(test_constants),
        cmocka_unit_test(test_control_flow),   cmocka_unit_test(test_locations),
        cmocka_unit_test(test_each_operation), cmocka_unit_test(test_images),
        cmocka_unit_test(test_head_errors),    cmocka_unit_test(test_body_errors),
        cmocka_unit_test(test_many_errors),    cmocka_unit_test(test_verified),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_reference),
    };
    return cmocka_run_group_tests_name("ir_text", tests, NULL, NULL);
}
