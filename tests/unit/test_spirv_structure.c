/*
 * Structured control flow from SPIR-V's: the same functions in C, compiled here, and in OpenCL C, through clang at -O0
 * and -O2 and the reader, into the interpreter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp/interp.h"
#include "tests/support/spirv_make.h"

#pragma GCC diagnostic ignored "-Wimplicit-fallthrough" /* it is meant */

/* Each case is a function int name(int a, int b), once for this compiler and once as text for the other one. */
#define CASE(name, body)                                                                                               \
    static int name(int a, int b) body static const char name##_text[] = "int " #name "(int a, int b) " #body "\n";

CASE(straight, { return a * 3 - b; })

CASE(diamond, {
    int r;
    if (a > b) {
        r = a - b;
    } else {
        r = b * 2;
    }
    return r + 1;
})

CASE(guards, {
    if (a < 0) return 1;
    if (b < 0) return 2;
    if (a == b) return 3;
    return a + b;
})

CASE(count, {
    int s = 0;
    for (int i = 0; i < (a & 15); i++) s += (i * b) ^ i;
    return s;
})

CASE(two_exits, {
    int i = 0;
    int s = b;
    while (i < 20) {
        if (s % 7 == 3) break;
        s += i + a;
        i++;
    }
    return s * 32 + i;
})

CASE(return_in_loop, {
    for (int i = 0; i < 12; i++) {
        if (((a >> i) & 3) == 2) return i + 100;
        if (b == i) return -i;
    }
    return a ^ b;
})

CASE(nested, {
    int s = 0;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            if (((i * j + a) & 7) == 5) break;
            if (((j + b) & 3) == 1) continue;
            s += i * 6 + j;
        }
        if (s > 100) continue;
        s++;
    }
    return s;
})

CASE(out_of_two, {
    int s = 0;
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            s += (i ^ j) + (a & 1);
            if (s > a % 60 + 50) goto done;
            if (s == b % 29) return -s;
        }
    }
    s = 1000;
done:
    return s;
})

CASE(out_of_three, {
    int s = a & 1;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            for (int k = 0; k < 4; k++) {
                s += i + j * k;
                if (s == (b & 31)) goto middle;
                if (s > (a & 127)) goto end;
            }
        }
        s += 2;
    middle:
        s++;
    }
end:
    return s;
})

CASE(fall_through, {
    int s = b;
    switch (a) {
    case 0: s += 1;
    case 1: s *= 2; break;
    case 2: s -= 5;
    case 3:
    case 4: s ^= 9;
    default: s += 100; break;
    case 6: s = 7;
    }
    return s;
})

CASE(switch_in_loop, {
    int s = 0;
    for (int i = 0; i < 10; i++) {
        switch ((a + i * 3) % 5) {
        case 0: continue;
        case 1: s += i; break;
        case 2:
            if (s > 30) return s;
            s *= 2;
        default: s += b & 3;
        }
        s++;
    }
    return s;
})

CASE(wide_switch, {
    switch (a) {
    case 0: return 5;
    case 1: return b;
    case 2: return b + 7;
    case 3: return b * 3;
    case 7: return -1;
    case 9: return b ^ 77;
    case 10: return b / 3;
    case 12: return 12;
    case 13: return b - 13;
    case 20: return b & 20;
    case 21: return b | 21;
    case 30: return 3 - b;
    }
    return a;
})

CASE(short_circuit, {
    int s = 0;
    if (a > 3 && (b > 3 || a > 10)) s = 1;
    if ((a & 1) || (b & 2 && a < 5)) s += 2;
    while (a > 0 && b > 0 && s < 50) {
        s += a & b;
        a--;
        b -= 2;
    }
    return s;
})

CASE(do_while, {
    int s = 0;
    do {
        s += a & 3;
        a >>= 1;
        if (s > 9) break;
    } while (a > 0);
    return s + b;
})

CASE(two_latches, {
    int s = 0;
    int i = 0;
again:
    i++;
    if (i < 5 && ((a >> i) & 1)) goto again;
    s += i * b;
    if (i < 9) goto again;
    return s;
})

CASE(jump_ahead, {
    int s = a;
    if (a > 5) goto third;
    s += 1;
    if (b > 5) goto second;
    s *= 3;
    if (s & 4) goto third;
second:
    s -= b;
    if (s > 20) goto end;
third:
    s ^= 3;
end:
    return s;
})

CASE(live_after, {
    int last = -1;
    int before = 0;
    for (int i = 0; i < 10; i++) {
        int x = (i * a) ^ b;
        if (x % 5 == 2) {
            last = x;
            break;
        }
        before = x + i;
    }
    return last * 3 + before;
})

CASE(while_true, {
    int s = 1;
    for (;;) {
        s = s * 5 + (a & 7);
        if (s > 1000) {
            if (b & 1) s = -s;
            break;
        }
        for (;;) {
            s++;
            if (s % 3 == 0) break;
        }
    }
    return s;
})

CASE(select_exits, {
    int i = 0;
    int kind = 0;
    for (i = 0; i < 30; i++) {
        int v = (a * i + b) % 37;
        if (v == 3) goto three;
        if (v == 17) goto seventeen;
        if (v == 29) goto other;
    }
    kind = 1;
    goto end;
three:
    kind = 3;
    goto end;
seventeen:
    kind = 17 + i;
other:
    kind += 40;
end:
    return kind * 64 + i;
})

static const struct test_case {
    const char *name, *text;
    int (*function)(int, int);
} cases[] = {
#define ROW(name) {#name, name##_text, name},
    ROW(straight) ROW(diamond) ROW(guards) ROW(count) ROW(two_exits) ROW(return_in_loop) ROW(nested) ROW(out_of_two)
        ROW(out_of_three) ROW(fall_through) ROW(switch_in_loop) ROW(wide_switch) ROW(short_circuit) ROW(do_while)
            ROW(two_latches) ROW(jump_ahead) ROW(live_after) ROW(while_true) ROW(select_exits)
#undef ROW
};

enum { N_CASES = sizeof cases / sizeof *cases, N_VALUES = 40 };

static struct ir_module *modules[2];
static const char *const levels[2] = {"O0", "O2"};

static struct ir_module *read_module(const uint8_t *bytes, size_t size)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_read_spirv(bytes, size, "test", &list);
    char *text = diag_format(&list);
    if (!m) print_error("%s", text);
    free(text);
    diag_clear(&list);
    return m;
}

/* All cases as one module: function f and kernel k_f for each. */
static int setup(void **state)
{
    (void)state;
    if (!spirv_make_can_compile()) return 0;
    char *source = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&source, &size);
    for (size_t k = 0; k < N_CASES; k++)
        fprintf(f,
                "%skernel void k_%s(global const int *a, global const int *b, global int *r)\n"
                "{ size_t i = get_global_id(0); r[i] = %s(a[i], b[i]); }\n",
                cases[k].text, cases[k].name, cases[k].name);
    fclose(f);
    for (unsigned l = 0; l < 2; l++) {
        size_t n;
        uint8_t *bytes = spirv_make_compiled(source, levels[l], &n);
        modules[l] = read_module(bytes, n);
        free(bytes);
    }
    free(source);
    return modules[0] && modules[1] ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    for (unsigned l = 0; l < 2; l++) ir_module_free(modules[l]);
    return 0;
}

static void run_kernel(const struct ir_module *m, const char *name, const int *a, const int *b, int *r, unsigned n)
{
    const struct ir_function *kernel = ir_module_find(m, name);
    assert_non_null(kernel);
    struct nd_range range = {.dims = 1, .global = {n, 1, 1}, .local = {n, 1, 1}};
    struct interp_arg args[3] = {{.kind = INTERP_ARG_BUFFER, .data = (void *)a, .size = n * sizeof *a},
                                 {.kind = INTERP_ARG_BUFFER, .data = (void *)b, .size = n * sizeof *b},
                                 {.kind = INTERP_ARG_BUFFER, .data = r, .size = n * sizeof *r}};
    struct interp_result result;
    assert_int_equal(interp_run(kernel, &range, args, NULL, &result), 0);
    if (result.n_findings) print_error("%s: %s\n", name, result.findings[0].text);
    assert_int_equal(result.n_findings, 0);
    interp_result_clear(&result);
}

static void compare(const struct test_case *c, unsigned level)
{
    int a[N_VALUES * N_VALUES], b[N_VALUES * N_VALUES], r[N_VALUES * N_VALUES];
    char name[64];
    for (int k = 0; k < N_VALUES * N_VALUES; k++) {
        a[k] = k % N_VALUES - 4;
        b[k] = k / N_VALUES - 4;
        if (k % 11 == 0) a[k] = a[k] * 7919 + k;
    }
    snprintf(name, sizeof name, "k_%s", c->name);
    run_kernel(modules[level], name, a, b, r, N_VALUES * N_VALUES);
    for (int k = 0; k < N_VALUES * N_VALUES; k++) {
        int expected = c->function(a[k], b[k]);
        if (r[k] != expected)
            fail_msg("%s(%d, %d) at -%s is %d, not %d", c->name, a[k], b[k], levels[level], r[k], expected);
    }
}

static void test_cases(void **state)
{
    (void)state;
    if (!modules[0]) skip();
    for (size_t k = 0; k < N_CASES; k++)
        for (unsigned level = 0; level < 2; level++) compare(&cases[k], level);
}

/* ---- shapes that must stay plain ---- */

static void count_ops(struct ir_inst *inst, void *data)
{
    unsigned *n = data;
    n[inst->op]++;
}

static void shape_of(unsigned level, const char *name, unsigned n[IR_OP_COUNT])
{
    memset(n, 0, IR_OP_COUNT * sizeof *n);
    struct ir_function *f = ir_module_find(modules[level], name);
    assert_non_null(f);
    ir_walk(f->body, count_ops, n);
}

static void test_plain(void **state)
{
    (void)state;
    if (!modules[0]) skip();
    unsigned n[IR_OP_COUNT];
    shape_of(0, "diamond", n);
    assert_int_equal(n[IR_OP_IF], 1);
    assert_int_equal(n[IR_OP_SELECT], 0);
    shape_of(0, "count", n); /* one loop with one way out, and nothing that tells where control goes */
    assert_int_equal(n[IR_OP_LOOP], 1);
    assert_int_equal(n[IR_OP_IF], 1);
    assert_int_equal(n[IR_OP_BREAK], 1);
    assert_int_equal(n[IR_OP_CONTINUE], 1);
    shape_of(0, "two_exits", n);
    assert_int_equal(n[IR_OP_LOOP], 1);
    assert_int_equal(n[IR_OP_IF], 2);
    assert_int_equal(n[IR_OP_BREAK], 2);
    assert_int_equal(n[IR_OP_SELECT], 0);
    shape_of(0, "nested", n);
    assert_int_equal(n[IR_OP_LOOP], 2);
    assert_int_equal(n[IR_OP_BREAK], 3);
    assert_int_equal(n[IR_OP_SELECT], 0);
}

/* ---- what is refused ---- */

static void test_irreducible(void **state)
{
    (void)state;
    if (!spirv_make_can_compile()) skip();
    static const char source[] = "kernel void tangle(global int *a, int n) {\n"
                                 "  int i = 0;\n"
                                 "  if (n > 3) goto second;\n"
                                 "first: a[i++] += 1; if (i > 20) return;\n"
                                 "second: a[i++] += 2; if (i < 10) goto first;\n"
                                 "}\n";
    size_t size;
    uint8_t *bytes = spirv_make_compiled(source, "O0", &size);
    struct diag_list list = {0};
    assert_null(ir_read_spirv(bytes, size, "test", &list));
    assert_int_equal(list.n, 1);
    assert_string_equal(list.items[0].function, "tangle");
    assert_non_null(strstr(list.items[0].text, "irreducible"));
    diag_clear(&list);
    free(bytes);
}

/* More ifs inside each other than blocks may be deep, as -O0 writes them. */
static void test_too_deep(void **state)
{
    (void)state;
    if (!spirv_make_can_compile()) skip();
    char *source = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&source, &size);
    fprintf(f, "kernel void deep(global int *a) {\n");
    for (int k = 0; k < 255; k++) fprintf(f, "if (a[%d]) { a[0]++;\n", k);
    for (int k = 0; k < 255; k++) fprintf(f, "a[1]++; }");
    fprintf(f, "}\n");
    fclose(f);
    uint8_t *bytes = spirv_make_compiled(source, "O0", &size);
    struct diag_list list = {0};
    assert_null(ir_read_spirv(bytes, size, "test", &list));
    assert_true(list.n > 0);
    assert_non_null(strstr(list.items[0].text, "deep"));
    diag_clear(&list);
    free(bytes);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_irreducible),
        cmocka_unit_test(test_too_deep),
    };
    return cmocka_run_group_tests_name("spirv_structure", tests, setup, teardown);
}
