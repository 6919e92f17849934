/* printf of kernels: formats against the C library's, and the order and the bounds of what is printed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/core/float.h"
#include "ir/core/ir.h"
#include "ir/printf/format.h"
#include "ir/printf/printer.h"

/* ---- formats ---- */

struct block {
    uint8_t bytes[2048];
    size_t size;
};

static void add(struct block *b, enum ir_format_kind kind, unsigned bytes, unsigned lanes, const void *data)
{
    uint64_t word = ir_format_word(kind, bytes, lanes);
    memcpy(b->bytes + b->size, &word, sizeof word);
    memcpy(b->bytes + b->size + sizeof word, data, (size_t)bytes * lanes);
    b->size += sizeof word + ir_format_room(bytes, lanes);
}

static void add_text(void *data, uint64_t address, uint64_t most, struct strbuf *to)
{
    (void)data;
    const char *text = (const char *)(uintptr_t)address;
    strbuf_add_bytes(to, text, strnlen(text, most));
}

static void expect(const struct block *b, const char *format, const char *wanted)
{
    struct strbuf text = {0};
    ir_format(&text, format, b->bytes, b->size, add_text, NULL);
    char *got = strbuf_take(&text);
    if (strcmp(got, wanted) != 0) fail_msg("%s: \"%s\" instead of \"%s\"", format, got, wanted);
    free(got);
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Each flag, width and precision with each conversion of a scalar: what the C library makes of it. */
static void test_scalars(void **state)
{
    (void)state;
    static const char *const flags[] = {"", "-", "+", " ", "#", "0", "-#", "+0"};
    static const char *const sizes[] = {"", "7", "23", ".0", ".3", "12.5", "3.11"};
    static const int ints[] = {0, 1, -1, 42, 300, -32769, INT32_MAX, INT32_MIN};
    static const double floats[] = {0, -0.0, 1, -1.5, 3.14159, 1e-7, 6.02e23, INFINITY, -INFINITY, NAN};
    unsigned n = 0;
    for (size_t f = 0; f < 8; f++)
        for (size_t s = 0; s < 7; s++) {
            char format[32], wanted[400];
            for (const char *c = "dioxXu"; *c; c++)
                for (size_t v = 0; v < sizeof ints / sizeof *ints; v++, n++) {
                    struct block b = {.size = 0};
                    add(&b, IR_FORMAT_INT, 4, 1, &ints[v]);
                    snprintf(format, sizeof format, "[%%%s%s%c]", flags[f], sizes[s], *c);
                    snprintf(wanted, sizeof wanted, format, ints[v]);
                    expect(&b, format, wanted);
                }
            for (const char *c = "fFeEgGaA"; *c; c++)
                for (size_t v = 0; v < sizeof floats / sizeof *floats; v++, n++) {
                    struct block b = {.size = 0};
                    add(&b, IR_FORMAT_FLOAT, 8, 1, &floats[v]);
                    snprintf(format, sizeof format, "[%%%s%s%c]", flags[f], sizes[s], *c);
                    snprintf(wanted, sizeof wanted, format, floats[v]);
                    expect(&b, format, wanted);
                }
        }
    assert_true(n > 5000);
}

static void test_lengths_and_vectors(void **state)
{
    (void)state;
    struct block b = {.size = 0};
    const int big = 300;
    const int64_t wide = -(1ll << 40);
    const int8_t chars[4] = {-1, 2, 127, -128};
    const float floats[3] = {1, -2.5f, 0.125f};
    const uint16_t halves[2] = {ir_f16_from_float(0.5f), ir_f16_from_float(-3)};
    const uint64_t longs[2] = {UINT64_MAX, 7};
    add(&b, IR_FORMAT_INT, 4, 1, &big);
    add(&b, IR_FORMAT_INT, 8, 1, &wide);
    add(&b, IR_FORMAT_INT, 1, 4, chars);
    add(&b, IR_FORMAT_INT, 1, 4, chars);
    add(&b, IR_FORMAT_FLOAT, 4, 3, floats);
    add(&b, IR_FORMAT_FLOAT, 2, 2, halves);
    add(&b, IR_FORMAT_INT, 8, 2, longs);
    expect(&b, "%hhd %ld %v4hhd %v4hhu %6.2v3hlf|%v2hf %v2lx",
           "44 -1099511627776 -1,2,127,-128 255,2,127,128   1.00, -2.50,  0.12|0.500000,-3.000000 ffffffffffffffff,7");
}

static void test_strings_and_the_rest(void **state)
{
    (void)state;
    struct block b = {.size = 0};
    const uint64_t text = (uintptr_t) "words", null = 0, address = 0xbeef;
    const int c = 'x';
    add(&b, IR_FORMAT_POINTER, 8, 1, &text);
    add(&b, IR_FORMAT_POINTER, 8, 1, &text);
    add(&b, IR_FORMAT_POINTER, 8, 1, &null);
    add(&b, IR_FORMAT_INT, 4, 1, &c);
    add(&b, IR_FORMAT_POINTER, 8, 1, &address);
    expect(&b, "100%% %s|%-8.3s|%s|%3c|%p|%d|%q%", "100% words|wor     |(null)|  x|0xbeef|%d|%q%");
    struct block none = {.size = 0};
    expect(&none, "%d %s %v4f", "%d %s %v4f");
    struct block odd = {.bytes = {0xff, 0xff, 0xff, 0xff, 0xff}, .size = 16};
    expect(&odd, "%d", "%d");
}

/* A message is cut, whatever the format asks for. */
static void test_long(void **state)
{
    (void)state;
    struct block b = {.size = 0};
    struct strbuf text = {0};
    char *format = calloc(1, 100 << 10);
    memset(format, 'a', (100 << 10) - 1);
    ir_format(&text, format, b.bytes, 0, add_text, NULL);
    assert_int_equal(text.size, IR_FORMAT_MAX);
    free(format);
    free(text.text);
}

/* ---- the printer ---- */

static void test_order(void **state)
{
    (void)state;
    struct ir_printer *p = ir_printer_new(1000);
    size_t bytes;
    uint64_t dropped;
    static const struct {
        uint64_t item;
        const char *text;
    } came[] = {{7, "g"}, {2, "b1"}, {0, "a"}, {2, "b2"}, {7, ""}, {1ull << 40, "z"}};
    for (size_t k = 0; k < sizeof came / sizeof *came; k++)
        assert_true(ir_printer_add(p, came[k].item, came[k].text, strlen(came[k].text)));
    ir_printer_end_launch(p);
    assert_true(ir_printer_add(p, 1, "next", 4));
    ir_printer_end_launch(p);
    const char *text = ir_printer_take(p, &bytes, &dropped);
    assert_string_equal(text, "ab1b2gznext");
    assert_int_equal(bytes, 11);
    assert_int_equal(dropped, 0);
    ir_printer_take(p, &bytes, &dropped);
    assert_int_equal(bytes, 0);
    assert_true(ir_printer_add(p, 1, "again", 5));
    ir_printer_end_launch(p);
    assert_string_equal(ir_printer_take(p, &bytes, &dropped), "again");
    assert_false(ir_printer_add(NULL, 1, "x", 1));
    ir_printer_free(p);
    ir_printer_free(NULL);
}

/* Whole messages, and how many had no room. */
static void test_bound(void **state)
{
    (void)state;
    struct ir_printer *p = ir_printer_new(100);
    size_t bytes;
    uint64_t dropped;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned k = 0; k < 50; k++) assert_int_equal(ir_printer_add(p, k, "0123456789", 10), k < 9);
        for (unsigned k = 0; k < 50; k++) assert_int_equal(ir_printer_add(p, 99, "", 0), k < 10);
        ir_printer_end_launch(p);
        ir_printer_take(p, &bytes, &dropped);
        assert_int_equal(bytes, 90);
        assert_int_equal(dropped, 41 + 40);
    }
    ir_printer_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_lengths_and_vectors),
        cmocka_unit_test(test_strings_and_the_rest),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests_name("printf", tests, NULL, NULL);
}
