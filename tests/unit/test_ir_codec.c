/* The msgpack form: round trip, equal bytes for equal modules, refusal of everything else, bounded memory. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/core/equal.h"
#include "ir/msgpack/codec.h"
#include "ir/verify/verify.h"
#include "tests/support/cases.h"
#include "tests/support/random_module.h"
#include "tests/support/rng.h"

/* ---- what must hold for all modules ---- */

static void test_round_trip(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_cases(500); seed++) {
        struct ir_module *m = random_module(seed, NULL);
        struct diag_list list = {0};
        if (!ir_verify(m, &list)) fail_msg("seed %u: %s", seed, diag_format(&list));
        size_t size, again;
        uint8_t *bytes = ir_encode(m, &size);
        struct ir_module *back = ir_decode(bytes, size, &list);
        if (!back) fail_msg("seed %u: %s", seed, diag_format(&list));
        if (!ir_module_equal(m, back)) fail_msg("seed %u: not equal after the round trip", seed);
        uint8_t *second = ir_encode(back, &again);
        assert_int_equal(size, again);
        assert_memory_equal(bytes, second, size);
        free(second);
        free(bytes);
        ir_module_free(m);
        ir_module_free(back);
    }
}

/* Every strict beginning of a module, and modules with one byte changed, are refused or decoded to
   something that has a form of its own. */
static void test_damage(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_cases(500) / 10; seed++) {
        struct ir_module *m = random_module(seed, &(struct random_module_options){.functions = 2, .instructions = 15});
        size_t size;
        uint8_t *bytes = ir_encode(m, &size);
        struct rng rng = {seed};
        for (int i = 0; i < 50; i++) {
            size_t cut = rng_below(&rng, (uint32_t)size);
            uint8_t *beginning = memcpy(malloc(cut + 1), bytes, cut); /* its own block: reading on is seen by ASan */
            struct diag_list list = {0};
            assert_null(ir_decode(beginning, cut, &list));
            assert_true(list.n > 0);
            diag_clear(&list);
            free(beginning);
            uint8_t *byte = &bytes[rng_below(&rng, (uint32_t)size)], old = *byte;
            *byte = (uint8_t)rng_next(&rng);
            struct ir_module *changed = ir_decode(bytes, size, NULL);
            if (changed) {
                size_t other;
                uint8_t *form = ir_encode(changed, &other);
                struct ir_module *back = ir_decode(form, other, NULL);
                assert_non_null(back);
                assert_true(ir_module_equal(changed, back));
                ir_module_free(back);
                free(form);
            }
            ir_module_free(changed);
            *byte = old;
        }
        free(bytes);
        ir_module_free(m);
    }
}

static void see_op(struct ir_inst *inst, void *data)
{
    ((bool *)data)[inst->op] = true;
}

/* The property tests are about all operations. */
static void test_generator_reaches_all(void **state)
{
    (void)state;
    bool seen[IR_OP_COUNT] = {false};
    for (unsigned seed = 0; seed < 500; seed++) {
        struct ir_module *m = random_module(seed, NULL);
        for (uint32_t i = 0; i < m->n_functions; i++)
            if (m->functions[i]->body) ir_walk(m->functions[i]->body, see_op, seen);
        ir_module_free(m);
    }
    for (unsigned op = 0; op < IR_OP_COUNT; op++)
        if (!seen[op]) fail_msg("no module has a %s", ir_op_info(op)->text);
}

/* ---- single things ---- */

/* kernel @k(%p: ptr.global) { store f32 %p, 1.5; return } */
static struct ir_module *small_module(const char *module, const char *value, uint32_t line)
{
    struct ir_module *m = ir_module_new(module);
    struct ir_function *f = ir_function_new(m, "k", IR_LINKAGE_KERNEL, IR_VOID, 1);
    ir_function_set_param(f, 0, value, IR_PTR(IR_SPACE_GLOBAL));
    struct ir_builder b = ir_builder_at_end(f->body);
    b.loc = (struct ir_loc){ir_module_file(m, module), line, 0};
    ir_build_store(&b, IR_F32, f->params[0].value, NULL, ir_const_float(m, IR_F32, 1.5));
    ir_build(&b, IR_OP_RETURN, IR_VOID, NULL, 0);
    return m;
}

static void assert_same_bytes(uint8_t *(*encode)(const struct ir_module *m, size_t *size), struct ir_module *a,
                              struct ir_module *b, bool same)
{
    size_t n, o;
    uint8_t *x = encode(a, &n), *y = encode(b, &o);
    assert_int_equal(n == o && memcmp(x, y, n) == 0, same);
    free(x);
    free(y);
}

static void test_anonymous(void **state)
{
    (void)state;
    struct ir_module *a = small_module("a", "p", 3), *b = small_module("b", "q", 99);
    assert_same_bytes(ir_encode, a, b, false);
    assert_same_bytes(ir_encode_anonymous, a, b, true);
    b->functions[0]->body->first->attrs.align = 4;
    assert_same_bytes(ir_encode_anonymous, a, b, false);
    ir_module_free(a);
    ir_module_free(b);
}

/* How a module came to be does not show: unused types, the order of interning, shared constants. */
static void test_history_does_not_show(void **state)
{
    (void)state;
    struct ir_module *a = ir_module_new("m"), *b = ir_module_new("m");
    ir_module_file(b, "unused");
    ir_array_type(b, IR_I8, 3);
    struct ir_module *modules[] = {a, b};
    for (int i = 0; i < 2; i++) {
        struct ir_module *m = modules[i];
        ir_type inner = ir_array_type(m, IR_F32, 4), outer = ir_array_type(m, inner, 2);
        struct ir_function *f = ir_function_new(m, "f", IR_LINKAGE_EXPORT, IR_I32, 0);
        struct ir_builder at = ir_builder_at_end(f->body);
        at.loc.file = ir_module_file(m, "file");
        ir_build_ptr(&at, IR_OP_VAR, outer, IR_SPACE_PRIVATE, NULL, 0);
        struct ir_value *one = ir_const_int(m, IR_I32, 1), *again = i ? one : ir_const_int(m, IR_I32, 1);
        struct ir_value *sum = ir_build2(&at, IR_OP_ADD, IR_I32, one, again);
        ir_build(&at, IR_OP_RETURN, IR_VOID, &sum, 1);
        assert_true(ir_verify(m, NULL));
    }
    assert_true(ir_module_equal(a, b));
    assert_same_bytes(ir_encode, a, b, true);
    ir_module_free(a);
    ir_module_free(b);
}

static void assert_refused(const uint8_t *bytes, size_t n, const char *text)
{
    struct diag_list list = {0};
    assert_null(ir_decode(bytes, n, &list));
    assert_int_equal(list.n, 1);
    if (!strstr(list.items[0].text, text)) fail_msg("\"%s\" does not say \"%s\"", list.items[0].text, text);
    diag_clear(&list);
}

#define REFUSED(text, ...)                                                                                             \
    do {                                                                                                               \
        const uint8_t bytes[] = {__VA_ARGS__};                                                                         \
        assert_refused(bytes, sizeof bytes, text);                                                                     \
    } while (0)

static void test_refusals(void **state)
{
    (void)state;
    assert_refused(NULL, 0, "the module is not an array");
    REFUSED("the module is not an array", 0x01);
    REFUSED("has 1 elements, must have 9", 0x91, 0x01);
    REFUSED("claims 4294967295 elements", 0xdd, 0xff, 0xff, 0xff, 0xff);
    REFUSED("version 2, must be 1", 0x99, 0x02, 0xc0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90);
    REFUSED("there is no operation frob", 0x99, 0x01, 0xc0, 0x90, 0x91, 0xa4, 'f', 'r', 'o', 'b', 0x90, 0x90, 0x90,
            0x90, 0x90);
    REFUSED("claims 4294967295 bytes", 0x99, 0x01, 0xdb, 0xff, 0xff, 0xff, 0xff, 0x90, 0x90, 0x90, 0x90);
    REFUSED("holds a zero byte", 0x99, 0x01, 0xa1, 0x00, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90);
    REFUSED("1 bytes follow", 0x99, 0x01, 0xc0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x00);
    REFUSED("the middle of a number", 0x99, 0x01, 0xc0, 0x90, 0x90, 0x90, 0x90, 0x90, 0xdd, 0x00);
}

static void test_empty(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x99, 0x01, 0xc0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
    struct ir_module *m = ir_decode(bytes, sizeof bytes, NULL);
    assert_non_null(m);
    size_t n;
    uint8_t *again = ir_encode(m, &n);
    assert_int_equal(n, sizeof bytes);
    assert_memory_equal(again, bytes, n);
    free(again);
    ir_module_free(m);
}

/* ---- memory: a test of plain builds, since a sanitizer's allocator does not count so ---- */

#if !defined(__SANITIZE_ADDRESS__)
static size_t bytes_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* A kernel of n instructions of the least bytes for the most memory. */
static void check_memory(enum ir_op op, uint32_t n)
{
    struct ir_module *m = ir_module_new(NULL);
    struct ir_function *f = ir_function_new(m, "k", IR_LINKAGE_KERNEL, IR_VOID, 0);
    struct ir_builder b = ir_builder_at_end(f->body);
    struct ir_value *cond = ir_const_bool(m, true);
    for (uint32_t i = 0; i < n; i++) {
        if (op != IR_OP_IF) {
            ir_build(&b, op, IR_VOID, NULL, 0);
            continue;
        }
        struct ir_inst *inst = ir_build_if(&b, cond, NULL, 0);
        for (int k = 0; k < 2; k++) {
            struct ir_builder inner = ir_builder_at_end(inst->blocks[k]);
            ir_build(&inner, IR_OP_YIELD, IR_VOID, NULL, 0);
        }
    }
    ir_build(&b, IR_OP_RETURN, IR_VOID, NULL, 0);
    size_t size;
    uint8_t *bytes = ir_encode(m, &size);
    ir_module_free(m);
    size_t before = bytes_in_use();
    m = ir_decode(bytes, size, NULL);
    assert_non_null(m);
    size_t used = bytes_in_use() - before;
    if (used > 64 * size + 65536) fail_msg("%zu bytes of input take %zu", size, used);
    ir_module_free(m);
    free(bytes);
}

static void test_memory(void **state)
{
    (void)state;
    static const enum ir_op ops[] = {IR_OP_GLOBAL_ID, IR_OP_WORK_DIM, IR_OP_FENCE, IR_OP_IF};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        check_memory(ops[i], 10);
        check_memory(ops[i], 20000);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_generator_reaches_all),
        cmocka_unit_test(test_anonymous),
        cmocka_unit_test(test_history_does_not_show),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_empty),
#if !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(test_memory),
#endif
    };
    return cmocka_run_group_tests_name("ir_codec", tests, NULL, NULL);
}
