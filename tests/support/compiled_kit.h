/* What the tests of compiled code share: a kernel run by the interpreter and by the code of each instruction
   set, whole vectors and one work-item at a time, on equal data. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text.h"
#include "tests/support/compiled.h"

enum { KIT_MAX_ARGS = 8 };

/* Which code: index into the instruction sets of the machine, and one more for scalar code of the best. */
struct kit_way {
    enum gccjit_isa isa;
    bool scalar;
};

static inline unsigned kit_ways(struct kit_way ways[GCCJIT_ISA_COUNT + 1])
{
    enum gccjit_isa isas[GCCJIT_ISA_COUNT];
    unsigned n = compiled_isas(isas);
    for (unsigned i = 0; i < n; i++) ways[i] = (struct kit_way){isas[i], false};
    ways[n] = (struct kit_way){isas[n - 1], true};
    return n + 1;
}

static inline struct ir_module *kit_parse(const char *text)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), "test.fk", &list);
    if (!m) {
        char *why = diag_format(&list);
        fprintf(stderr, "# %s", why);
        free(why);
    }
    diag_clear(&list);
    assert_non_null(m);
    return m;
}

static inline struct ir_function *kit_kernel(const struct ir_module *m)
{
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (m->functions[i]->linkage == IR_LINKAGE_KERNEL) return m->functions[i];
    fail_msg("no kernel");
    return NULL;
}

static inline void kit_interpret(const struct ir_function *kernel, const struct interp_range *range,
                                 const struct interp_arg *args)
{
    struct interp_result result;
    assert_int_equal(interp_run(kernel, range, args, NULL, &result), 0);
    for (uint32_t i = 0; i < result.n_findings; i++) {
        if (result.findings[i].kind == INTERP_DIVISION) continue; /* gives 0 everywhere */
        fail_msg("line %u: %s", result.findings[i].line, result.findings[i].text);
    }
    assert_true(result.completed);
    interp_result_clear(&result);
}

/* Copies of the arguments with memory of their own. */
static inline void kit_copy(struct interp_arg *to, const struct interp_arg *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i];
        if (from[i].kind != INTERP_ARG_BUFFER) continue;
        to[i].data = malloc(from[i].size + 64);
        assert_non_null(to[i].data);
        memcpy(to[i].data, from[i].data, from[i].size);
    }
}

static inline void kit_free_copy(struct interp_arg *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (args[i].kind == INTERP_ARG_BUFFER) free(args[i].data);
}

static inline void kit_expect_same(const struct interp_arg *want, const struct interp_arg *got, uint32_t n,
                                   const char *how)
{
    for (uint32_t i = 0; i < n; i++) {
        if (want[i].kind != INTERP_ARG_BUFFER || memcmp(want[i].data, got[i].data, want[i].size) == 0) continue;
        const uint8_t *a = want[i].data, *b = got[i].data;
        uint64_t at = 0;
        while (a[at] == b[at]) at++;
        fail_msg("%s: argument %u differs at byte %llu", how, i, (unsigned long long)at);
    }
}

/* The kernel of a text by all ways over some ranges: each buffer must come out as from the interpreter. */
static inline void kit_same_everywhere(const char *text, const struct interp_range *ranges, unsigned n_ranges,
                                       uint32_t flags, const struct interp_arg *args, uint32_t n_args)
{
    struct ir_module *m = kit_parse(text);
    struct ir_function *kernel = kit_kernel(m);
    assert_int_equal(kernel->n_params, n_args);
    struct kit_way ways[GCCJIT_ISA_COUNT + 1];
    unsigned n_ways = kit_ways(ways);
    for (unsigned w = 0; w < n_ways; w++) {
        struct compiled c;
        assert_true(compiled_make(&c, kernel, ways[w].isa, ways[w].scalar));
        for (unsigned r = 0; r < n_ranges; r++) {
            char how[96];
            snprintf(how, sizeof how, "%s%s, range %u (%llu x %llu)", gccjit_isa_name(ways[w].isa),
                     ways[w].scalar ? " scalar" : "", r, (unsigned long long)ranges[r].global[0],
                     (unsigned long long)ranges[r].global[1]);
            struct interp_arg want[KIT_MAX_ARGS], got[KIT_MAX_ARGS];
            kit_copy(want, args, n_args);
            kit_copy(got, args, n_args);
            kit_interpret(kernel, &ranges[r], want);
            compiled_run(&c, kernel, &ranges[r], got, 1 + r % 3, flags);
            kit_expect_same(want, got, n_args, how);
            kit_free_copy(want, n_args);
            kit_free_copy(got, n_args);
        }
        compiled_clear(&c);
    }
    ir_module_free(m);
}
