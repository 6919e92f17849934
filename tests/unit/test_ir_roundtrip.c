/* Random modules through the text form, and through both forms in a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/core/equal.h"
#include "ir/msgpack/codec.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "tests/support/cases.h"
#include "tests/support/random_module.h"

static struct ir_module *parsed(const char *text, unsigned seed)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), "text.fk", &list);
    if (!m) fail_msg("seed %u: %s%s", seed, diag_format(&list), text);
    return m;
}

static void check(unsigned seed, const struct random_module_options *options)
{
    struct ir_module *m = random_module(seed, options);
    char *text = ir_print(m);
    struct ir_module *back = parsed(text, seed);
    char *again = ir_print(back);
    if (!ir_module_equal(m, back)) fail_msg("seed %u: not equal after the round trip:\n%s\n%s", seed, text, again);
    assert_string_equal(text, again);
    ir_module_free(back);
    free(again);
    free(text);
    ir_module_free(m);
}

static void test_text(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_cases(500); seed++) check(seed, NULL);
}

static void test_deep_and_large(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_cases(500) / 50; seed++) {
        check(seed, &(struct random_module_options){.functions = 3, .instructions = 300, .depth = 12});
        check(seed, &(struct random_module_options){.functions = 40, .instructions = 10});
    }
}

/* msgpack to text to msgpack gives the same bytes. */
static void test_both(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_cases(500); seed++) {
        struct ir_module *m = random_module(seed, NULL);
        size_t size, again;
        uint8_t *bytes = ir_encode(m, &size);
        struct ir_module *decoded = ir_decode(bytes, size, NULL);
        assert_non_null(decoded);
        char *text = ir_print(decoded);
        struct ir_module *read = parsed(text, seed);
        uint8_t *other = ir_encode(read, &again);
        assert_int_equal(size, again);
        assert_memory_equal(bytes, other, size);
        free(other);
        ir_module_free(read);
        free(text);
        ir_module_free(decoded);
        free(bytes);
        ir_module_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_deep_and_large),
        cmocka_unit_test(test_both),
    };
    return cmocka_run_group_tests_name("ir_roundtrip", tests, NULL, NULL);
}
