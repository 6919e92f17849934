/* Entries that run an executable many times, and another one before it: what the ring says of them is not to be
 * trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "daemon/executor/run/exit_codes.h"
#include "proto/include/fusiond/status.h"
#include "tests/support/executor.h"

enum { BYTES = 64, BUFFER = 1 };

#define KERNEL(body)                                                                                                   \
    "struct args { long long *t; };\n"                                                                                 \
    "const struct kernel_object_info fusion_kernel_info = {KERNEL_ABI_VERSION, 1, 8, 0, 0, 1};\n"                      \
    "void fusion_kernel(const struct kernel_launch *l, const void *p, uint64_t first, uint64_t end, void *local)\n"    \
    "{\n    const struct args *a = p;\n    " body "\n}\n"

/* t[0] tells in which order they ran. */
static const char twice[] = KERNEL("a->t[0] *= 2; a->t[1]++;");
static const char plus[] = KERNEL("a->t[0] += 1; a->t[2]++;");
static const char beyond[] = KERNEL("a->t[1000] = 1;");

static struct executor x;
static struct memory memory;
static int64_t *t;

static int set_up(void **state)
{
    (void)state;
    executor_start(&x, "2");
    memory = memory_new(BYTES);
    t = memory.data;
    memset(t, 0, BYTES);
    assert_int_equal(executor_attach(&x, BUFFER, &memory, 0), FUSION_SUCCESS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    executor_stop(&x);
    memory_free(&memory);
    return 0;
}

static uint64_t load(const char *source, unsigned n_slots)
{
    uint64_t id, bindings[] = {BUFFER, BUFFER};
    const struct test_program p = {.n_launches = 1,
                                   .n_slots = n_slots,
                                   .slots = {{"t", BYTES}, {"more", BYTES}},
                                   .launches = {{"step", 1, 1, 8, 1, {{0, 0, 0, 0, 8, true}}}}};
    int object = object_compile(source);
    assert_int_equal(executor_load(&x, &p, &object, bindings, NULL, &id), FUSION_SUCCESS);
    close(object);
    return id;
}

static void test_order(void **state)
{
    (void)state;
    uint64_t a = load(plus, 1), b = load(twice, 1);
    assert_int_equal(executor_submit_rounds(&x, &(struct test_rounds){b, a, 3, 5, 0}), FUSION_SUCCESS);
    assert_int_equal(t[0], 5 * 8);
    assert_int_equal(executor_submit_rounds(&x, &(struct test_rounds){a, b, 2, 1, 0}), FUSION_SUCCESS);
    assert_int_equal(t[0], 5 * 8 * 2 + 2);
    assert_int_equal(t[1], 4);
    assert_int_equal(t[2], 7);
    /* 0 is once; the same one before itself is one like any other. */
    t[0] = 1;
    assert_int_equal(executor_submit_rounds(&x, &(struct test_rounds){b, b, 0, 0, 0}), FUSION_SUCCESS);
    assert_int_equal(t[0], 4);
    assert_int_equal(executor_submit_rounds(&x, &(struct test_rounds){b, 0, 3, 7, 0}), FUSION_SUCCESS);
    assert_int_equal(t[0], 32);
}

/* Nothing of it runs. */
static void refused(const struct test_rounds *r, fusion_status status, const char *reason)
{
    const int64_t before[] = {t[0], t[1], t[2]};
    assert_int_equal(executor_submit_rounds(&x, r), status);
    if (!strstr(executor_failure(&x)->reason, reason))
        fail_msg("\"%s\" is not in \"%s\"", reason, executor_failure(&x)->reason);
    assert_memory_equal(before, t, sizeof before);
}

static void test_refused(void **state)
{
    (void)state;
    uint64_t a = load(plus, 1), other = load(twice, 2);
    refused(&(struct test_rounds){a, 4711, 1, 1, 0}, FUSION_NOT_FOUND, "no such executable");
    refused(&(struct test_rounds){4711, a, 1, 1, 0}, FUSION_NOT_FOUND, "no such executable");
    refused(&(struct test_rounds){a, UINT64_MAX, 1, 1, 0}, FUSION_NOT_FOUND, "no such executable");
    refused(&(struct test_rounds){a, other, 1, 1, 0}, FUSION_INVALID, "do not have the same slots and values");
    refused(&(struct test_rounds){other, a, 1, 1, 0}, FUSION_INVALID, "do not have the same slots and values");
    assert_int_equal(executor_submit_rounds(&x, &(struct test_rounds){.executable = a}), FUSION_SUCCESS);
    assert_int_equal(t[0], 1);
}

/* The first one that fails is the last. */
static void test_fault(void **state)
{
    (void)state;
    uint64_t a = load(plus, 1), bad = load(beyond, 1);
    assert_int_equal(executor_submit_rounds(&x, &(struct test_rounds){a, bad, 3, 2, 0}), FUSION_KERNEL_FAULT);
    assert_int_equal(t[0], 0);
    assert_int_equal(executor_exit_code(&x), EXECUTOR_EXIT_FAULT);
    memory_free(&memory);
    set_up(NULL);
}

/* As many as can be asked for: the time limit is that of all of them. */
static void test_endless(void **state)
{
    (void)state;
    uint64_t a = load(plus, 1), b = load(twice, 1);
    assert_int_equal(executor_submit_rounds(&x, &(struct test_rounds){b, a, UINT32_MAX, UINT32_MAX, 300}),
                     FUSION_TIMEOUT);
    assert_true(t[2] > 1000);
    assert_int_equal(t[1], 0);
    assert_int_equal(executor_exit_code(&x), EXECUTOR_EXIT_TIMEOUT);
    memory_free(&memory);
    set_up(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fault, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_endless, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("executor_rounds", tests, NULL, NULL);
}
