/* Sums over all elements, and scans, from OpenCL C as people write them: trees in work-groups, then one work-group over
   their sums, then kernels that read what came out. The one work-group is no launch of its own. Random programs of such
   kernels give what they give one by one and in the interpreter, on each instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/cases.h"
#include "tests/support/rng.h"
#include "tests/support/service.h"
#include "tests/support/spirv_make.h"

enum { GROUP = 64, GROUPS = 48, N = GROUP * GROUPS, SUBMISSIONS = 3, WAIT_MS = 120000, MOST_STEPS = 16 };
enum { VECTORS = 5, SUMS = VECTORS, SCALARS, BUFFERS }; /* of N, GROUPS and 4 numbers */

/* Each takes its buffers, and n, up to which elements count. */
static const char source[] =
    "#define ID int i = get_global_id(0), l = get_local_id(0); if (i >= n) return\n"
    "int of_group(int mine, local int *part)\n{\n"
    "    int l = get_local_id(0);\n    part[l] = mine;\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int d = get_local_size(0) / 2; d > 0; d >>= 1) {\n"
    "        if (l < d) part[l] += part[l + d];\n        barrier(CLK_LOCAL_MEM_FENCE);\n    }\n"
    "    return part[0];\n}\n"
    "kernel void product(global const int *a, global const int *b, global int *o, int n)\n"
    "{ ID; o[i] = a[i] * b[i] + 1; }\n"
    "kernel void stencil(global const int *a, global int *o, int n)\n"
    "{ ID; o[i] = 2 * a[i] - (i > 0 ? a[i - 1] : 0) - (i < n - 1 ? a[i + 1] : 0); }\n"
    "kernel void sums(global const int *a, global const int *b, global int *sums, int n)\n{\n"
    "    local int part[64];\n    int i = get_global_id(0), s = of_group(i < n ? a[i] * b[i] : 0, part);\n"
    "    if (get_local_id(0) == 0) sums[get_group_id(0)] = s;\n}\n"
    "int of_sums(global const int *sums, local int *part)\n{\n    int s = 0;\n"
    "    for (int k = get_local_id(0); k < 48; k += get_local_size(0)) s += sums[k];\n"
    "    return of_group(s, part);\n}\n"
    "kernel void total(global const int *sums, global int *s, int n)\n{\n"
    "    local int part[64];\n    int all = of_sums(sums, part);\n"
    "    if (get_global_id(0) == 0) { s[1] = s[0]; s[0] = all + n + get_num_groups(0) + get_global_size(0); }\n}\n"
    "kernel void largest(global const int *sums, global int *s, int n)\n{\n"
    "    int v = get_local_id(0) < 48 ? sums[get_global_id(0)] : INT_MIN;\n"
    "    local int part[64];\n    part[get_local_id(0)] = v;\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (get_local_id(0) != 3) return;\n    for (int k = 0; k < 64; k++) v = max(v, part[k]);\n"
    "    s[2] = v + get_group_id(0) * n;\n}\n"
    "kernel void ratio(global int *s, int n) { s[3] = s[0] * 3 - s[1] + (s[2] >> 2) + get_global_id(0) + n; }\n"
    "kernel void forward(global const int *a, global const int *s, global int *o, int n)\n{ ID; o[i] += s[0] * a[i]; "
    "}\n"
    "kernel void turn(global const int *a, global const int *s, global int *o, int n)\n{ ID; o[i] = a[i] + s[3] * "
    "o[i]; }\n"
    "kernel void scan_blocks(global const int *a, global int *o, global int *sums, int n)\n{\n"
    "    local int part[2][64];\n    int i = get_global_id(0), l = get_local_id(0), from = 0;\n"
    "    part[0][l] = i < n ? a[i] : 0;\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int d = 1; d < 64; d *= 2) {\n"
    "        part[1 - from][l] = l >= d ? part[from][l] + part[from][l - d] : part[from][l];\n"
    "        from = 1 - from;\n        barrier(CLK_LOCAL_MEM_FENCE);\n    }\n"
    "    o[i] = part[from][l];\n    if (l == 63) sums[get_group_id(0)] = part[from][63];\n}\n"
    "kernel void scan_sums(global int *sums, int n)\n{\n"
    "    local int part[2][64];\n    int l = get_local_id(0), from = 0, mine = l < 48 ? sums[l] : 0;\n"
    "    part[0][l] = mine;\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int d = 1; d < 64; d *= 2) {\n"
    "        part[1 - from][l] = l >= d ? part[from][l] + part[from][l - d] : part[from][l];\n"
    "        from = 1 - from;\n        barrier(CLK_LOCAL_MEM_FENCE);\n    }\n"
    "    if (l < 48) sums[l] = part[from][l] - mine;\n}\n"
    "kernel void add_sums(global const int *sums, global int *o, int n) { ID; o[i] += sums[i / 64]; }\n";

/* What a kernel takes: v vectors, the last one written; t the groups' sums; s the scalars. */
static const struct kind {
    const char *kernel, *args;
    unsigned global; /* work-items */
    bool group;      /* in work-groups; else of any size */
} kinds[] = {
    {"product", "vvw", N, true},     {"stencil", "vw", N, true},     {"sums", "vvt", N, true},
    {"total", "ts", GROUP, true},    {"largest", "ts", GROUP, true}, {"ratio", "s", 1, false},
    {"forward", "vsw", N, true},     {"turn", "vsw", N, true},       {"scan_blocks", "vwt", N, true},
    {"scan_sums", "t", GROUP, true}, {"add_sums", "tw", N, true},
};
enum kernel { PRODUCT, STENCIL, TOTAL_SUMS, TOTAL, LARGEST, RATIO, FORWARD, TURN, SCAN_BLOCKS, SCAN_SUMS, ADD, KINDS };

/* A kernel and its vectors. */
struct step {
    enum kernel kind;
    unsigned vectors[3];
};

struct program {
    unsigned n;
    struct step steps[MOST_STEPS];
    bool internal[BUFFERS];
};

static struct service service;
static fusion_session *session;
static fusion_module *module;

static int start(void **state)
{
    size_t size;
    if (!spirv_make_can_compile()) return 0;
    setenv("FUSIOND_ISA", *state, 1);
    service_start(&service, NULL);
    unsetenv("FUSIOND_ISA");
    const fusion_connect_options options = {.time_limit_ms = WAIT_MS};
    expect_ok(fusion_connect(service.socket, &options, &session));
    uint8_t *spirv = spirv_make_compiled(source, "O2", &size);
    expect_ok(fusion_module_load(session, "kernels", spirv, size, &module));
    free(spirv);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    if (!session) return 0;
    fusion_disconnect(session);
    service_clear(&service);
    session = NULL;
    return 0;
}

/* ---- runs ---- */

struct run {
    fusion_buffer *buffers[BUFFERS];
    fusion_exec *exec;
};

static size_t numbers_of(unsigned buffer)
{
    return buffer < VECTORS ? N : buffer == SUMS ? GROUPS : 4;
}

static int *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

static fusion_arg arg_of(const struct run *r, const struct step *s, char letter, unsigned *vector)
{
    if (letter == 'v') return fusion_arg_read(r->buffers[s->vectors[(*vector)++]]);
    if (letter == 'w') return fusion_arg_read_write(r->buffers[s->vectors[(*vector)++]]);
    return fusion_arg_read_write(r->buffers[letter == 't' ? SUMS : SCALARS]);
}

static void add_step(fusion_graph *graph, const struct run *r, const struct step *s, unsigned at)
{
    const struct kind *k = &kinds[s->kind];
    fusion_arg args[5];
    unsigned n = 0, vector = 0;
    char name[32];
    snprintf(name, sizeof name, "n%02u_%s", at, k->kernel);
    for (const char *c = k->args; *c; c++) args[n++] = arg_of(r, s, *c, &vector);
    args[n++] = fusion_arg_i32(N);
    fusion_kernel_node node = {.name = name, .module = module, .kernel = k->kernel, .args = args, .n_args = n};
    node.dims = 1;
    node.global[0] = k->global;
    if (k->group) node.local[0] = GROUP;
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
}

static void make_run(struct run *r, const struct program *p, fusion_mode mode, const char *device)
{
    fusion_graph *graph;
    const fusion_finalize_options options = {.mode = mode, .device = device};
    for (unsigned i = 0; i < BUFFERS; i++) {
        const char name[] = {'b', (char)('0' + i), 0};
        unsigned properties = p->internal[i] ? FUSION_INTERNAL_MEMORY : 0;
        expect_ok(fusion_buffer_create(session, name, FUSION_I32, numbers_of(i), properties, &r->buffers[i]));
        for (size_t k = 0; k < numbers_of(i) && !p->internal[i]; k++)
            map(r->buffers[i])[k] = (int)((k + i) * 2654435761u >> 20);
    }
    expect_ok(fusion_graph_create(session, &graph));
    for (unsigned i = 0; i < p->n; i++) add_step(graph, r, &p->steps[i], i);
    expect_ok(fusion_graph_finalize(graph, &options, &r->exec));
    fusion_graph_destroy(graph);
}

/* Each step up to its n; those of the first submission are what they were. */
static void submit(struct run *r, const struct program *p, const int *n)
{
    fusion_event event;
    fusion_rebind rebind[MOST_STEPS];
    for (unsigned i = 0; i < p->n; i++)
        rebind[i] = (fusion_rebind){.node = i,
                                    .arg = (uint32_t)strlen(kinds[p->steps[i].kind].args),
                                    .value = &n[i],
                                    .value_bytes = sizeof n[i]};
    expect_ok(fusion_exec_submit(r->exec, rebind, p->n, &event));
    expect_ok(fusion_event_wait(session, event, WAIT_MS, NULL));
}

static void clear_run(struct run *r)
{
    fusion_exec_destroy(r->exec);
    for (unsigned i = 0; i < BUFFERS; i++) fusion_buffer_destroy(r->buffers[i]);
}

static void expect_same(const struct run *a, const struct run *b, const struct program *p, unsigned seed,
                        unsigned submission)
{
    for (unsigned i = 0; i < BUFFERS; i++) {
        const int *x, *y;
        if (p->internal[i]) continue;
        x = map(a->buffers[i]);
        y = map(b->buffers[i]);
        for (size_t k = 0; k < numbers_of(i); k++)
            if (x[k] != y[k])
                fail_msg("case %u, submission %u, buffer %u, element %zu: %d, one by one %d", seed, submission, i, k,
                         x[k], y[k]);
    }
}

static unsigned count_remarks(const struct run *r, const char *code)
{
    const fusion_report *report = fusion_exec_report(r->exec);
    unsigned n = 0;
    for (uint32_t i = 0; i < report->n_remarks; i++) n += strcmp(report->remarks[i].code, code) == 0;
    return n;
}

/* ---- chains as they are written ---- */

/* So many launches, that move so many numbers, and as many buffers without memory; fused and apart they do the same. */
static void check(const struct program *p, uint32_t launches, uint64_t numbers, uint32_t internalized)
{
    static const int all[MOST_STEPS] = {N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N};
    struct run fused, apart;
    if (!session) skip();
    make_run(&fused, p, FUSION_ENABLE, NULL);
    make_run(&apart, p, FUSION_NONE, NULL);
    const fusion_report *report = fusion_exec_report(fused.exec);
    for (uint32_t i = 0; i < report->n_remarks; i++)
        print_message("# %s: %s\n", report->remarks[i].code, report->remarks[i].text);
    assert_int_equal(report->launches, launches);
    assert_int_equal(report->n_internalized, internalized);
    assert_int_equal(report->bytes_fused, numbers * sizeof(int));
    for (unsigned i = 0; i < SUBMISSIONS; i++) {
        submit(&fused, p, all);
        submit(&apart, p, all);
        expect_same(&fused, &apart, p, 0, i);
    }
    clear_run(&fused);
    clear_run(&apart);
}

/* The product is in registers, its sum two kernels of one launch; who reads the sum is another one. */
static void sum_over_all(void **state)
{
    (void)state;
    static const struct program p = {
        .n = 4,
        .steps = {{PRODUCT, {0, 1, 2}}, {TOTAL_SUMS, {2, 2}}, {TOTAL, {0}}, {FORWARD, {0, 3}}},
        .internal = {[2] = true}};
    check(&p, 2, 2 * N + 2 * GROUPS + 3 + 3 * N + 1, 1);
}

/* The operator with its product with the direction, and the step; both updates with the residual's square, and the
   direction's share, which a kernel of one work-item computes; the new direction. */
static void conjugate_gradients(void **state)
{
    (void)state;
    static const struct program p = {.n = 9,
                                     .steps = {{STENCIL, {0, 1}},
                                               {TOTAL_SUMS, {0, 1}},
                                               {TOTAL, {0}},
                                               {FORWARD, {0, 2}},
                                               {FORWARD, {1, 3}},
                                               {TOTAL_SUMS, {3, 3}},
                                               {TOTAL, {0}},
                                               {RATIO, {0}},
                                               {TURN, {3, 0}}}};
    check(&p, 3, (2 * N + 2 * GROUPS + 3) + (6 * N + 1 + 2 * GROUPS + 3 + 2) + (3 * N + 1), 0);
}

static void scan(void **state)
{
    (void)state;
    static const struct program p = {.n = 3, .steps = {{SCAN_BLOCKS, {0, 1}}, {SCAN_SUMS, {0}}, {ADD, {1}}}};
    check(&p, 2, 2 * N + 2 * GROUPS + 2 * N + GROUPS, 0);
}

/* ---- random programs ---- */

static void make_program(struct rng *rng, struct program *p)
{
    *p = (struct program){.n = 3 + rng_below(rng, MOST_STEPS - 2)};
    for (unsigned i = 0; i < p->n; i++) {
        struct step *s = &p->steps[i];
        s->kind = (enum kernel)rng_below(rng, KINDS);
        bool follows = i && rng_below(rng, 2);
        if (follows && p->steps[i - 1].kind == TOTAL_SUMS) s->kind = rng_below(rng, 2) ? TOTAL : LARGEST;
        if (follows && p->steps[i - 1].kind == SCAN_BLOCKS) s->kind = SCAN_SUMS;
        for (unsigned k = 0; k < 3; k++) s->vectors[k] = (rng_below(rng, VECTORS - 2) + 2 * k) % VECTORS;
        if (s->kind == STENCIL && s->vectors[0] == s->vectors[1]) s->kind = SCAN_SUMS;
    }
}

static void run_program(struct rng *rng, const struct program *p, unsigned seed, unsigned *last)
{
    struct run fused, apart, interpreted;
    bool interprets = seed % 4 == 0 && p->n <= 8;
    make_run(&fused, p, FUSION_ENABLE, NULL);
    make_run(&apart, p, FUSION_NONE, NULL);
    if (interprets) make_run(&interpreted, p, FUSION_NONE, "reference");
    *last += count_remarks(&fused, "last_group");
    for (unsigned i = 0; i < SUBMISSIONS; i++) {
        int n[MOST_STEPS];
        for (unsigned k = 0; k < p->n; k++) n[k] = i && rng_below(rng, 8) == 0 ? N - (int)rng_below(rng, 200) : N;
        submit(&fused, p, n);
        submit(&apart, p, n);
        expect_same(&fused, &apart, p, seed, i);
        if (!interprets) continue;
        submit(&interpreted, p, n);
        expect_same(&fused, &interpreted, p, seed, i);
    }
    clear_run(&fused);
    clear_run(&apart);
    if (interprets) clear_run(&interpreted);
}

static void random_sums(void **state)
{
    unsigned last = 0;
    (void)state;
    if (!session) skip();
    for (unsigned seed = 0; seed < test_cases(16); seed++) {
        struct rng rng = {seed};
        struct program p;
        make_program(&rng, &p);
        run_program(&rng, &p, seed, &last);
    }
    print_message("# %u kernels in last work-groups\n", last);
    assert_true(last > 0);
}

#define ON(isa)                                                                                                        \
    {                                                                                                                  \
        "random_sums_" isa, random_sums, start, stop, (void *)isa                                                      \
    }
#define WITH_LAST(test)                                                                                                \
    {                                                                                                                  \
#test, test, start, stop, (void *)"avx512"                                                                     \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_LAST(sum_over_all),
                                       WITH_LAST(conjugate_gradients),
                                       WITH_LAST(scan),
                                       ON("generic"),
                                       ON("sse4"),
                                       ON("avx2"),
                                       ON("avx512")};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
