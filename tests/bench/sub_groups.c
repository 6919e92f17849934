/*
 * What sub-group functions cost in compiled code: scans against the same by shuffles of constant distance, and shuffles
 * by numbers that are known at run time only against constant ones. Prints nanoseconds for one function of one
 * sub-group, and the ratio, by type and instruction set; ways take turns, and the least of many rounds counts.
 *
 * meson test -C build --benchmark --verbose sub_groups
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ir/text/parse/parse.h"
#include "tests/support/compiled.h"

enum { SIZE = 16, ITEMS = 1024, REPEATS = 64, ROUNDS = 40 };

/* Pairs to compare; {T} is the type, %v the value before and %r after. */
static const struct pair {
    const char *name, *built_in, *other;
} pairs[] = {
    {"inclusive scan : by constant shuffles", "%r = group_scan_incl {T} %v, sub_group, add\n",
     "%s1 = sub_group_shuffle_up {T} %zero, %v, 1\n %v1 = {add} {T} %v, %s1\n"
     "%s2 = sub_group_shuffle_up {T} %zero, %v1, 2\n %v2 = {add} {T} %v1, %s2\n"
     "%s4 = sub_group_shuffle_up {T} %zero, %v2, 4\n %v4 = {add} {T} %v2, %s4\n"
     "%s8 = sub_group_shuffle_up {T} %zero, %v4, 8\n %r = {add} {T} %v4, %s8\n"},
    {"sum of all     : by constant shuffles", "%r = group_reduce {T} %v, sub_group, add\n",
     "%s1 = sub_group_shuffle_xor {T} %v, 8\n %v1 = {add} {T} %v, %s1\n"
     "%s2 = sub_group_shuffle_xor {T} %v1, 4\n %v2 = {add} {T} %v1, %s2\n"
     "%s4 = sub_group_shuffle_xor {T} %v2, 2\n %v4 = {add} {T} %v2, %s4\n"
     "%s8 = sub_group_shuffle_xor {T} %v4, 1\n %r = {add} {T} %v4, %s8\n"},
    {"shuffle by ids : xor by a constant", "%r = sub_group_shuffle {T} %v, %any\n",
     "%r = sub_group_shuffle_xor {T} %v, 3\n"},
    {"shuffle up by d: by a constant", "%r = sub_group_shuffle_up {T} %x, %v, %d\n",
     "%r = sub_group_shuffle_up {T} %x, %v, 3\n"},
};

static void add_typed(char *to, size_t size, const char *text, const char *type)
{
    for (; *text; text++) {
        size_t used = strlen(to);
        if (strncmp(text, "{T}", 3) == 0) {
            snprintf(to + used, size - used, "%s", type);
            text += 2;
        } else if (strncmp(text, "{add}", 5) == 0) {
            snprintf(to + used, size - used, "%s", *type == 'f' ? "fadd" : "add");
            text += 4;
        } else {
            snprintf(to + used, size - used, "%c", *text);
        }
    }
}

static struct compiled compile(const char *body, const char *type, enum cpu_isa isa, struct ir_module **m)
{
    char text[4096] = "";
    struct diag_list list = {0};
    struct compiled c;
    add_typed(text, sizeof text,
              "kernel @k(%a: ptr.global {T} read, %n: ptr.global i32 read, %o: ptr.global {T} write) "
              "sub_group_size(16) {\n %i = global_id x\n %x = load {T} %a[%i]\n %any = load i32 %n[%i]\n"
              " %d = load i32 %n[0]\n %zero = sub_group_shuffle {T} %x, 0\n"
              " %end = loop (%k: i32 = 0, %v: {T} = %x) -> {T} {\n %last = ieq i32 %k, 64\n"
              " if %last { break %v\n }\n",
              type);
    add_typed(text, sizeof text, body, type);
    add_typed(text, sizeof text, " %more = add i32 %k, 1\n continue %more, %r\n }\n store {T} %o[%i], %end\n}\n", type);
    *m = ir_parse(text, strlen(text), "bench", &list);
    if (!*m || !compiled_make(&c, ir_module_find(*m, "k"), isa, false)) {
        fprintf(stderr, "%s%s\n", text, *m ? "" : diag_format(&list));
        exit(1);
    }
    return c;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double run(const struct compiled *c, const struct ir_module *m)
{
    static uint8_t in[ITEMS * 8], out[ITEMS * 8];
    static int32_t numbers[ITEMS];
    static const struct nd_range range = {1, {ITEMS, 1, 1}, {0}, {64, 1, 1}};
    for (int i = 0; i < ITEMS; i++) numbers[i] = (i * 7 + 3) % SIZE;
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = sizeof in},
                                {.kind = INTERP_ARG_BUFFER, .data = numbers, .size = sizeof numbers},
                                {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out}};
    double start = seconds();
    compiled_run(c, ir_module_find(m, "k"), &range, args, 1, 0);
    return (seconds() - start) * 1e9 / (ITEMS / SIZE * REPEATS);
}

static void compare(const struct pair *p, const char *type, enum cpu_isa isa)
{
    struct ir_module *m[2];
    struct compiled c[2] = {compile(p->built_in, type, isa, &m[0]), compile(p->other, type, isa, &m[1])};
    double least[2] = {1e9, 1e9};
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < 2; k++) {
            double ns = run(&c[k], m[k]);
            if (ns < least[k]) least[k] = ns;
        }
    printf("%-7s %-4s %-38s %7.1f : %6.1f ns  %5.2f\n", cpu_isa_name(isa), type, p->name, least[0], least[1],
           least[0] / least[1]);
    for (int k = 0; k < 2; k++) {
        compiled_clear(&c[k]);
        ir_module_free(m[k]);
    }
}

int main(void)
{
    static const char *const types[] = {"i8", "i16", "i32", "i64", "f32"};
    enum cpu_isa isas[CPU_ISA_COUNT];
    unsigned n = compiled_isas(isas);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < sizeof pairs / sizeof *pairs; k++)
            for (unsigned t = 0; t < sizeof types / sizeof *types; t++) compare(&pairs[k], types[t], isas[i]);
    return 0;
}
