/*
 * The SPIR-V reader on graphs that no compiler makes, of many sizes: what is read or refused takes less than a second,
 * and memory of less than 100 times the module's size and what an empty module takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <spirv/unified1/spirv.h>

#include "ir/spirv/spirv.h"
#include "tests/support/measure.h"

enum { MAX_WORDS = 1 << 20, LARGEST = 16000, LARGEST_SANITIZED = 2000 };
enum { VOID = 1, BOOL, U32, POINTER, FUNCTION, ZERO, KERNEL, PARAM, ENTRY, VALUE, FIRST_FREE };

/* ---- a module with one function ---- */

struct words {
    uint32_t *w;
    size_t n;
    uint32_t next; /* id */
};

static void put(struct words *m, SpvOp op, const uint32_t *operands, size_t n)
{
    assert_true(m->n + n < MAX_WORDS);
    m->w[m->n++] = (uint32_t)(n + 1) << 16 | op;
    memcpy(m->w + m->n, operands, n * sizeof *operands);
    m->n += n;
}

#define PUT(m, op, ...)                                                                                                \
    put(m, op, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* The function's first block stands open, with a value loaded. */
static void begin(struct words *m)
{
    *m = (struct words){calloc(MAX_WORDS, sizeof *m->w), 5, FIRST_FREE};
    PUT(m, SpvOpCapability, SpvCapabilityAddresses);
    PUT(m, SpvOpCapability, SpvCapabilityKernel);
    PUT(m, SpvOpMemoryModel, SpvAddressingModelPhysical64, SpvMemoryModelOpenCL);
    PUT(m, SpvOpEntryPoint, SpvExecutionModelKernel, KERNEL, 'k');
    PUT(m, SpvOpTypeVoid, VOID);
    PUT(m, SpvOpTypeBool, BOOL);
    PUT(m, SpvOpTypeInt, U32, 32, 0);
    PUT(m, SpvOpTypePointer, POINTER, SpvStorageClassCrossWorkgroup, U32);
    PUT(m, SpvOpTypeFunction, FUNCTION, VOID, POINTER);
    PUT(m, SpvOpConstant, U32, ZERO, 0);
    PUT(m, SpvOpFunction, VOID, KERNEL, SpvFunctionControlMaskNone, FUNCTION);
    PUT(m, SpvOpFunctionParameter, POINTER, PARAM);
    PUT(m, SpvOpLabel, ENTRY);
    PUT(m, SpvOpLoad, U32, VALUE, PARAM);
}

static void end(struct words *m)
{
    m->w[m->n++] = 1 << 16 | SpvOpFunctionEnd;
    m->w[0] = SpvMagicNumber;
    m->w[1] = 0x10200;
    m->w[3] = m->next;
}

static uint32_t ids(struct words *m, uint32_t n)
{
    m->next += n;
    return m->next - n;
}

static void begin_block(struct words *m, uint32_t id)
{
    PUT(m, SpvOpLabel, id);
    PUT(m, SpvOpStore, PARAM, VALUE);
}

static void branch(struct words *m, uint32_t yes, uint32_t no)
{
    uint32_t is = ids(m, 1);
    PUT(m, SpvOpIEqual, BOOL, is, VALUE, ZERO);
    PUT(m, SpvOpBranchConditional, is, yes, no);
}

static void last_block(struct words *m, uint32_t id)
{
    PUT(m, SpvOpLabel, id);
    m->w[m->n++] = 1 << 16 | SpvOpReturn;
}

/* A switch from where the function stands: to `first` and the n - 1 blocks behind it. */
static void switch_to(struct words *m, uint32_t first, uint32_t n)
{
    m->w[m->n++] = (3 + 2 * (n - 1)) << 16 | SpvOpSwitch;
    m->w[m->n++] = VALUE;
    m->w[m->n++] = first;
    for (uint32_t k = 1; k < n; k++) {
        m->w[m->n++] = k;
        m->w[m->n++] = first + k;
    }
}

/* ---- shapes, each of n parts ---- */

static void make_ifs_in_a_row(struct words *m, uint32_t n)
{
    uint32_t join = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t then = ids(m, 2);
        join = then + 1;
        branch(m, then, join);
        begin_block(m, then);
        PUT(m, SpvOpBranch, join);
        if (k + 1 < n) begin_block(m, join);
    }
    last_block(m, join);
}

static void make_many_ways_to_the_end(struct words *m, uint32_t n)
{
    uint32_t last = ids(m, 1), next = 0;
    for (uint32_t k = 0; k < n; k++) {
        next = ids(m, 1);
        branch(m, next, last);
        begin_block(m, next);
    }
    PUT(m, SpvOpBranch, last);
    last_block(m, last);
}

static void make_ifs_inside_each_other(struct words *m, uint32_t n)
{
    uint32_t joins = ids(m, n);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t then = ids(m, 1);
        branch(m, then, joins + k);
        begin_block(m, then);
    }
    for (uint32_t k = n; --k;) {
        PUT(m, SpvOpBranch, joins + k);
        begin_block(m, joins + k);
    }
    PUT(m, SpvOpBranch, joins);
    last_block(m, joins);
}

static void make_loops_inside_each_other(struct words *m, uint32_t n)
{
    uint32_t heads = ids(m, n), behind = 0;
    for (uint32_t k = 0; k < n; k++) {
        PUT(m, SpvOpBranch, heads + k);
        begin_block(m, heads + k);
    }
    for (uint32_t k = n; k--;) {
        behind = ids(m, 1);
        branch(m, heads + k, behind);
        if (k) begin_block(m, behind);
    }
    last_block(m, behind);
}

/* Each block goes on to the next one or anywhere. */
static void make_tangle(struct words *m, uint32_t n)
{
    uint32_t first = ids(m, n + 1), random = 1;
    PUT(m, SpvOpBranch, first);
    for (uint32_t k = 0; k < n; k++) {
        begin_block(m, first + k);
        random = random * 1664525 + 1013904223;
        branch(m, first + k + 1, first + (random >> 8) % n);
    }
    last_block(m, first + n);
}

/* A row of blocks, each with a way into a second row, whose blocks lead on and back: dominators settle slowly. */
static void make_two_rows(struct words *m, uint32_t n)
{
    uint32_t x = ids(m, n), y = ids(m, n);
    branch(m, x, y);
    for (uint32_t k = 0; k < n; k++) {
        begin_block(m, x + k);
        branch(m, k + 1 < n ? x + k + 1 : y, y + k);
    }
    for (uint32_t k = n; k--;) {
        begin_block(m, y + k);
        branch(m, y + (k ? k - 1 : 0), y + (k + 1 < n ? k + 1 : k));
    }
}

static void make_cases_that_fall_through(struct words *m, uint32_t n)
{
    uint32_t first = ids(m, n);
    switch_to(m, first, n);
    for (uint32_t k = 0; k + 1 < n; k++) {
        begin_block(m, first + k);
        PUT(m, SpvOpBranch, first + k + 1);
    }
    last_block(m, first + n - 1);
}

/* Each block goes to each behind it: n edges in all, or nearly. */
static void make_all_to_all(struct words *m, uint32_t n)
{
    uint32_t blocks = 2;
    while (blocks * blocks / 2 < n) blocks++;
    uint32_t first = ids(m, blocks);
    PUT(m, SpvOpBranch, first);
    for (uint32_t k = 0; k + 1 < blocks; k++) {
        begin_block(m, first + k);
        switch_to(m, first + k + 1, blocks - k - 1);
    }
    last_block(m, first + blocks - 1);
}

/* n entry points that all call the first of n / 8 functions, each of which calls the next one. */
static void make_calls(struct words *m, uint32_t n)
{
    uint32_t n_functions = n / 8, entries = ids(m, n), functions = ids(m, n_functions);
    *m = (struct words){m->w, 5, m->next};
    PUT(m, SpvOpCapability, SpvCapabilityAddresses);
    PUT(m, SpvOpCapability, SpvCapabilityKernel);
    PUT(m, SpvOpMemoryModel, SpvAddressingModelPhysical64, SpvMemoryModelOpenCL);
    for (uint32_t k = 0; k < n; k++) {
        char name[8] = {0};
        snprintf(name, sizeof name, "k%05u", k % 100000);
        uint32_t words[4] = {SpvExecutionModelKernel, entries + k};
        memcpy(words + 2, name, sizeof name);
        put(m, SpvOpEntryPoint, words, 4);
    }
    PUT(m, SpvOpTypeVoid, VOID);
    PUT(m, SpvOpTypeFunction, FUNCTION, VOID);
    for (uint32_t k = 0; k < n + n_functions; k++) {
        uint32_t callee = k < n ? functions : functions + (k - n) + 1;
        PUT(m, SpvOpFunction, VOID, k < n ? entries + k : functions + (k - n), SpvFunctionControlMaskNone, FUNCTION);
        PUT(m, SpvOpLabel, ids(m, 1));
        if (callee < functions + n_functions) PUT(m, SpvOpFunctionCall, VOID, ids(m, 1), callee);
        m->w[m->n++] = 1 << 16 | SpvOpReturn;
        if (k + 1 < n + n_functions) m->w[m->n++] = 1 << 16 | SpvOpFunctionEnd;
    }
}

/* One printf with many arguments, and many with some. */
static void make_printf(struct words *m, uint32_t n, uint32_t each)
{
    enum { STD = FIRST_FREE, U8, STRING, FORMAT, BEHIND };
    static uint32_t args[5 + LARGEST] = {U32, 0, STD, 184 /* printf */, FORMAT};
    m->n = 5;
    m->next = BEHIND;
    PUT(m, SpvOpCapability, SpvCapabilityAddresses);
    PUT(m, SpvOpCapability, SpvCapabilityKernel);
    PUT(m, SpvOpCapability, SpvCapabilityInt8);
    PUT(m, SpvOpExtInstImport, STD, 0x6e65704f, 0x732e4c43, 0x6474); /* OpenCL.std */
    PUT(m, SpvOpMemoryModel, SpvAddressingModelPhysical64, SpvMemoryModelOpenCL);
    PUT(m, SpvOpEntryPoint, SpvExecutionModelKernel, KERNEL, 'k');
    PUT(m, SpvOpTypeVoid, VOID);
    PUT(m, SpvOpTypeInt, U8, 8, 0);
    PUT(m, SpvOpTypeInt, U32, 32, 0);
    PUT(m, SpvOpTypePointer, STRING, SpvStorageClassUniformConstant, U8);
    PUT(m, SpvOpTypeFunction, FUNCTION, VOID, STRING);
    PUT(m, SpvOpConstant, U32, ZERO, 0);
    PUT(m, SpvOpFunction, VOID, KERNEL, SpvFunctionControlMaskNone, FUNCTION);
    PUT(m, SpvOpFunctionParameter, STRING, FORMAT);
    PUT(m, SpvOpLabel, ENTRY);
    for (uint32_t k = 0; k < each; k++) args[5 + k] = ZERO;
    for (uint32_t k = 0; k < n; k += each) {
        args[1] = ids(m, 1);
        put(m, SpvOpExtInst, args, 5 + each);
    }
    m->w[m->n++] = 1 << 16 | SpvOpReturn;
}
static void make_printf_with_many(struct words *m, uint32_t n)
{
    make_printf(m, n / 2, n / 2);
}
static void make_many_printfs(struct words *m, uint32_t n)
{
    make_printf(m, n / 2, 10);
}

/* ---- tests ---- */

typedef void shape_maker(struct words *m, uint32_t n);

/* A second is for what takes work in proportion to its square; a sanitizer makes all of it slower. */
static void check_read(const char *what, const struct words *m, uint32_t n)
{
    size_t size = m->n * sizeof *m->w;
    struct diag_list list = {0};
    struct measure cost;
    measure_begin(&cost);
    struct ir_module *ir = ir_read_spirv(m->w, size, "test", &list);
    measure_end(&cost);
    assert_true(ir || list.n > 0);
    if (n <= 100 && !ir && !strstr(list.items[0].text, "inside each other") &&
        !strstr(list.items[0].text, "irreducible"))
        fail_msg("%s of %u: %s", what, n, list.items[0].text);
    if (measure_is_plain && cost.seconds > 1) fail_msg("%s of %u: %.2f s", what, n, cost.seconds);
    if (cost.peak > 100 * size + MEASURE_EMPTY_MODULE)
        fail_msg("%s of %u: %zu bytes of memory for a module of %zu", what, n, cost.peak, size);
    ir_module_free(ir);
    diag_clear(&list);
}

static void check_shape(const char *what, shape_maker *make)
{
    uint32_t largest = measure_is_plain ? LARGEST : LARGEST_SANITIZED;
    for (uint32_t n = 100; n <= largest; n = n * 5 / 3) {
        struct words m;
        begin(&m);
        make(&m, n);
        end(&m);
        check_read(what, &m, n);
        free(m.w);
    }
}

#define SHAPE(name)                                                                                                    \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        check_shape(#name, make_##name);                                                                               \
    }
SHAPE(ifs_in_a_row)
SHAPE(many_ways_to_the_end)
SHAPE(ifs_inside_each_other)
SHAPE(loops_inside_each_other)
SHAPE(tangle)
SHAPE(two_rows)
SHAPE(cases_that_fall_through)
SHAPE(all_to_all)
SHAPE(calls)
SHAPE(printf_with_many)
SHAPE(many_printfs)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ifs_in_a_row),
        cmocka_unit_test(test_many_ways_to_the_end),
        cmocka_unit_test(test_ifs_inside_each_other),
        cmocka_unit_test(test_loops_inside_each_other),
        cmocka_unit_test(test_tangle),
        cmocka_unit_test(test_two_rows),
        cmocka_unit_test(test_cases_that_fall_through),
        cmocka_unit_test(test_all_to_all),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_printf_with_many),
        cmocka_unit_test(test_many_printfs),
    };
    return cmocka_run_group_tests_name("spirv_limits", tests, NULL, NULL);
}
