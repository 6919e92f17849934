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

#include "ir/text/parse/parse.h"
#include "tests/support/compiled.h"

enum { KIT_MAX_ARGS = 8 };

/* Which code: each instruction set of the machine, scalar code of the best, and none: in batches. */
struct kit_way {
    enum cpu_isa isa;
    bool scalar, batch, other_gathers;
    enum batch_loops loops;
};
enum { KIT_MAX_WAYS = 2 * CPU_ISA_COUNT + 4 };

/* Set by tests of accesses: there is also the code for processors whose gathers are not like this one's, slow or fast.
 */
static bool kit_tries_gathers;

static inline unsigned kit_ways(struct kit_way ways[KIT_MAX_WAYS])
{
    enum cpu_isa isas[CPU_ISA_COUNT];
    const char *only = getenv("FUSIOND_TEST_WAYS");
    unsigned n_isas = compiled_isas(isas), n = 0;
    enum cpu_isa best = isas[n_isas - 1];
    bool code = !only || strcmp(only, "batches") != 0;
    for (unsigned i = 0; i < n_isas && code; i++) ways[n++] = (struct kit_way){.isa = isas[i]};
    for (unsigned i = 0; i < n_isas && code && kit_tries_gathers; i++)
        if (isas[i] >= CPU_ISA_AVX2) ways[n++] = (struct kit_way){.isa = isas[i], .other_gathers = true};
    if (code) ways[n++] = (struct kit_way){.isa = best, .scalar = true};
    for (enum batch_loops loops = BATCH_BEST; loops <= BATCH_GENERIC; loops++)
        ways[n++] = (struct kit_way){.isa = best, .batch = true, .loops = loops};
    return n;
}

static inline const char *kit_way_name(const struct kit_way *way)
{
    static const char *const batches[] = {"batches", "batches, avx2", "batches, generic"};
    return way->batch           ? batches[way->loops]
           : way->scalar        ? "scalar"
           : way->other_gathers ? "other gathers"
                                : cpu_isa_name(way->isa);
}

static inline bool kit_make(struct compiled *c, const struct ir_function *kernel, const struct kit_way *way)
{
    if (way->batch) return compiled_make_batch(c, kernel, way->loops);
    struct cpu_target target = cpu_target_host(way->isa);
    target.gathers_slowly ^= way->other_gathers;
    return compiled_make_for(c, kernel, &target, way->scalar ? CPU_EFFORT_SCALAR : CPU_EFFORT_FULL);
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

static inline void kit_interpret(const struct ir_function *kernel, const struct nd_range *range,
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

static inline void *kit_copy_bytes(const void *bytes, size_t size)
{
    void *copy = malloc(size + 64);
    assert_non_null(copy);
    return memcpy(copy, bytes, size);
}

static inline size_t kit_image_bytes(const struct ir_image *image)
{
    return image->slices ? (size_t)image->slice_pitch * image->slices : (size_t)image->row_pitch * image->height;
}

/* The memory of an argument that a kernel may write; NULL: there is none. */
static inline void **kit_memory(const struct interp_arg *arg, size_t *size)
{
    struct ir_image *image = arg->data;
    struct interp_pipe *pipe = arg->data;
    switch (arg->kind) {
    case INTERP_ARG_IMAGE: *size = kit_image_bytes(image); return &image->data;
    case INTERP_ARG_PIPE: *size = (size_t)pipe->capacity * pipe->packet_size; return (void **)&pipe->packets;
    default: return NULL;
    }
}

/* Copies of the arguments with memory of their own. */
static inline void kit_copy(struct interp_arg *to, const struct interp_arg *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i];
        if (from[i].kind == INTERP_ARG_BUFFER) to[i].data = kit_copy_bytes(from[i].data, from[i].size);
        if (from[i].kind == INTERP_ARG_IMAGE) to[i].data = kit_copy_bytes(from[i].data, sizeof(struct ir_image));
        if (from[i].kind == INTERP_ARG_PIPE) to[i].data = kit_copy_bytes(from[i].data, sizeof(struct interp_pipe));
        size_t size;
        void **memory = kit_memory(&to[i], &size);
        if (memory) *memory = kit_copy_bytes(*memory, size);
    }
}

static inline void kit_free_copy(struct interp_arg *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t size;
        void **memory = kit_memory(&args[i], &size);
        if (memory) free(*memory);
        if (memory || args[i].kind == INTERP_ARG_BUFFER) free(args[i].data);
    }
}

static inline void kit_expect_equal_bytes(const void *want, const void *got, size_t size, const char *how, uint32_t arg)
{
    if (memcmp(want, got, size) == 0) return;
    const uint8_t *a = want, *b = got;
    size_t at = 0;
    while (a[at] == b[at]) at++;
    fail_msg("%s: argument %u differs at byte %zu", how, arg, at);
}

static inline void kit_expect_same(const struct interp_arg *want, const struct interp_arg *got, uint32_t n,
                                   const char *how)
{
    for (uint32_t i = 0; i < n; i++) {
        if (want[i].kind == INTERP_ARG_BUFFER) kit_expect_equal_bytes(want[i].data, got[i].data, want[i].size, how, i);
        if (want[i].kind == INTERP_ARG_PIPE) {
            const struct interp_pipe *a = want[i].data, *b = got[i].data;
            if (a->read != b->read || a->written != b->written) fail_msg("%s: argument %u has other packets", how, i);
        }
        size_t size;
        void **a = kit_memory(&want[i], &size), **b = kit_memory(&got[i], &size);
        if (a) kit_expect_equal_bytes(*a, *b, size, how, i);
    }
}

/* What the interpreter makes of the arguments, by range. */
static inline struct interp_arg *kit_wanted(const struct ir_function *kernel, const struct nd_range *ranges,
                                            unsigned n_ranges, const struct interp_arg *args, uint32_t n_args)
{
    struct interp_arg *want = calloc((size_t)n_ranges * KIT_MAX_ARGS, sizeof *want);
    assert_non_null(want);
    for (unsigned r = 0; r < n_ranges; r++) {
        kit_copy(want + r * KIT_MAX_ARGS, args, n_args);
        kit_interpret(kernel, &ranges[r], want + r * KIT_MAX_ARGS);
    }
    return want;
}

static inline void kit_same_in_ways(const struct kit_way *ways, unsigned n_ways, const struct ir_function *kernel,
                                    const struct nd_range *ranges, unsigned n_ranges, uint32_t flags,
                                    const struct interp_arg *args, uint32_t n_args)
{
    assert_int_equal(kernel->n_params, n_args);
    struct interp_arg *want = kit_wanted(kernel, ranges, n_ranges, args, n_args);
    for (unsigned w = 0; w < n_ways; w++) {
        struct compiled c;
        assert_true(kit_make(&c, kernel, &ways[w]));
        for (unsigned r = 0; r < n_ranges; r++) {
            char how[96];
            snprintf(how, sizeof how, "%s, range %u (%llu x %llu)", kit_way_name(&ways[w]), r,
                     (unsigned long long)ranges[r].global[0], (unsigned long long)ranges[r].global[1]);
            struct interp_arg got[KIT_MAX_ARGS];
            kit_copy(got, args, n_args);
            compiled_run(&c, kernel, &ranges[r], got, 1 + r % 3, flags);
            kit_expect_same(want + r * KIT_MAX_ARGS, got, n_args, how);
            kit_free_copy(got, n_args);
        }
        compiled_clear(&c);
    }
    for (unsigned r = 0; r < n_ranges; r++) kit_free_copy(want + r * KIT_MAX_ARGS, n_args);
    free(want);
}

static inline void kit_same_in_all_ways(const struct ir_function *kernel, const struct nd_range *ranges,
                                        unsigned n_ranges, uint32_t flags, const struct interp_arg *args,
                                        uint32_t n_args)
{
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n_ways = kit_ways(ways);
    kit_same_in_ways(ways, n_ways, kernel, ranges, n_ranges, flags, args, n_args);
}

/* Each way with code costs a compilation: one of them, which changes from call to call, and those without;
   FUSIOND_TEST_WHOLE takes all. */
static inline unsigned kit_ways_in_turn(struct kit_way ways[KIT_MAX_WAYS])
{
    static unsigned turn;
    unsigned n = kit_ways(ways), n_code = 0;
    if (getenv("FUSIOND_TEST_WHOLE")) return n;
    while (n_code < n && !ways[n_code].batch) n_code++;
    if (n_code == 0) return n;
    ways[0] = ways[turn++ % n_code];
    memmove(ways + 1, ways + n_code, (n - n_code) * sizeof *ways);
    return 1 + n - n_code;
}

/* The kernel of a text by all ways over some ranges: each buffer must come out as from the interpreter. */
static inline void kit_same_everywhere(const char *text, const struct nd_range *ranges, unsigned n_ranges,
                                       uint32_t flags, const struct interp_arg *args, uint32_t n_args)
{
    struct ir_module *m = kit_parse(text);
    kit_same_in_all_ways(kit_kernel(m), ranges, n_ranges, flags, args, n_args);
    ir_module_free(m);
}

/* The same of the kernel as plans have it where its work-items wait for each other: for one local size. Code of one
   instruction set after the other. */
static inline void kit_same_as_planned(const char *text, const struct nd_range *range, const struct interp_arg *args,
                                       uint32_t n_args)
{
    struct ir_module *m = kit_parse(text);
    struct ir_function *kernel = kit_kernel(m);
    for (unsigned d = 0; d < 3; d++) kernel->work_group_size[d] = (uint32_t)range->local[d];
    if (nd_range_has_whole_groups(range)) kernel->assumes |= IR_ASSUME_WHOLE_GROUPS;
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n_ways = kit_ways_in_turn(ways);
    kit_same_in_ways(ways, n_ways, kernel, range, 1, 0, args, n_args);
    ir_module_free(m);
}
