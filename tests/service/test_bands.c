/* Launches that run band by band give what they give one after the other, and in the interpreter: random graphs of
   stencils, filters and pyramids on each instruction set, with scalars that change from submission to submission. */
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

enum { BUFFERS = 8, MOST_NODES = 28, SUBMISSIONS = 5, WAIT_MS = 120000, INTERPRETED = 12 /* nodes, or fewer */ };

/* Each makes `o` of `a` and `b`: o and b are of w x h, a of v x g. */
static const char source[] =
    "#define ARGS global const int *a, global const int *b, global int *o, int w, int h, int v, int g\n"
    "#define AT int x = get_global_id(0), y = get_global_id(1); if (x >= w || y >= h) return; int i = y * w + x\n"
    "int in(int k, int n) { return clamp(k, 0, n - 1); }\n"
    "kernel void cross_of(ARGS) { AT; o[i] = a[in(y - 1, g) * v + in(x, v)] + 3 * a[in(y + 1, g) * v + in(x, v)]\n"
    "  - a[in(y, g) * v + in(x - 1, v)] + 5 * a[in(y, g) * v + in(x + 1, v)] + b[i]; }\n"
    "kernel void along(ARGS) { AT; int s = 0; for (int d = -4; d <= 4; d++) s += (d + 7) * a[in(y, g) * v + in(x + d, "
    "v)];\n"
    "  o[i] = s ^ b[i]; }\n"
    "kernel void across(ARGS) { AT; int s = 0; for (int d = -3; d <= 3; d++) s += (d + 9) * a[in(y + d, g) * v + in(x, "
    "v)];\n"
    "  o[i] = s - b[i]; }\n"
    "kernel void inside(ARGS) { AT; if (x > 0 && y > 1 && x < w - 1 && y < h - 2)\n"
    "  o[i] = b[i - w - w] + b[i + w + w] - b[i - 1] * b[i + 1]; }\n"
    "kernel void down(ARGS) { AT; o[i] = a[in(2 * y, g) * v + in(2 * x, v)] + a[in(2 * y + 1, g) * v + in(2 * x + 1, "
    "v)] + b[i]; }\n"
    "kernel void up(ARGS) { AT; o[i] = a[in(y / 2, g) * v + in(x >> 1, v)] - 2 * b[i]; }\n"
    "kernel void at_edges(ARGS) { AT; o[i] = y < 2 || y >= h - 2 ? a[in(y, g) * v + in(x, v)] :\n"
    "  a[in(y - 2, g) * v + in(x, v)] * 3 + a[in(y + 2, g) * v + in(x, v)] - b[i]; }\n"
    "kernel void from_above(ARGS) { AT; if (y >= 5) o[i] = a[in(y - 5, g) * v + in(x, v)] + b[i];\n"
    "  else o[i] = a[in(y, g) * v + in(x, v)] - 7 * b[i]; }\n"
    "kernel void from_below(ARGS) { AT; o[i] = a[min(y + 9, g - 1) * v + in(x, v)] ^ b[i]; }\n"
    "kernel void two_rows(ARGS) { int x = get_global_id(0), y = get_global_id(1) * 2;\n"
    "  for (int k = 0; k < 2; k++) if (x < w && y + k < h)\n"
    "    o[(y + k) * w + x] = a[in(y - k, g) * v + in(x + k, v)] + 3 * b[(y + k) * w + x]; }\n"
    "kernel void mirrored(ARGS) { AT; o[i] = a[(g - 1 - in(y, g)) * v + in(x, v)] + b[i]; }\n"
    "kernel void looked_up(ARGS) { AT; o[i] = a[(uint)b[i] % (uint)(v * g)]; }\n";

/* Those from COMMON on keep others from being bands: rare. */
static const char *const names[] = {"cross_of", "along",  "across", "at_edges", "from_above", "from_below",
                                    "two_rows", "inside", "down",   "up",       "mirrored",   "looked_up"};
enum { TWO_ROWS = 6, INSIDE = 7, DOWN = 8, UP = 9, COMMON = 10, ALL = 12 };

struct node {
    unsigned kernel, a, b, o;
};

struct picture {
    bool small, internal;
};

struct program {
    unsigned width[2], height[2]; /* of large and small pictures */
    bool lines;                   /* work-groups are those */
    struct picture pictures[BUFFERS];
    unsigned n;
    struct node nodes[MOST_NODES];
    char tuning[64];
};

static struct service service;
static fusion_session *session;
static fusion_module *module;

/* Small caches, so that small pictures are large. */
static int start(void **state)
{
    size_t size;
    if (!spirv_make_can_compile()) return 0;
    setenv("FUSIOND_CACHE", "16384", 1);
    setenv("FUSIOND_ISA", *state, 1);
    service_start(&service, NULL);
    unsetenv("FUSIOND_ISA");
    unsetenv("FUSIOND_CACHE");
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

/* ---- random programs ---- */

/* A picture of that size that has been written; BUFFERS: there is none. */
static unsigned pick(struct rng *rng, const struct program *p, const bool *written, bool small)
{
    for (unsigned i = 0, at = rng_below(rng, BUFFERS); i < BUFFERS; i++, at = (at + 1) % BUFFERS)
        if (written[at] && p->pictures[at].small == small) return at;
    return BUFFERS;
}

/* Picture 0 is what goes in; inside leaves a border, and stencils do not write what they read. */
static bool try_node(struct rng *rng, struct program *p, bool *written)
{
    struct node n = {.kernel = rng_below(rng, 12) ? rng_below(rng, COMMON) : rng_below(rng, ALL)};
    n.o = 1 + rng_below(rng, BUFFERS - 1);
    bool small = p->pictures[n.o].small;
    n.a = pick(rng, p, written, n.kernel == DOWN ? false : n.kernel == UP ? true : small);
    n.b = pick(rng, p, written, small);
    if (n.b == BUFFERS && n.kernel != INSIDE) n.b = n.o; /* of the first small picture: zeros, and its own */
    if (n.a == BUFFERS || n.b == BUFFERS || n.a == n.o) return false;
    if (n.b == n.o && (n.kernel == INSIDE || p->pictures[n.o].internal) && !written[n.o]) return false;
    if (n.kernel == INSIDE && (n.b == n.o || !written[n.o])) return false;
    written[n.o] = true;
    p->nodes[p->n++] = n;
    return true;
}

/* Each reads what the one before wrote, and nothing else is kept: a filter behind the other, or steps in time. */
static void make_chain(struct rng *rng, struct program *p)
{
    unsigned pictures = 2 + rng_below(rng, 3), n = 3 + rng_below(rng, 8);
    for (unsigned i = 0; i < n; i++)
        p->nodes[i] = (struct node){rng_below(rng, INSIDE), i ? 1 + (i - 1) % pictures : 0, 0, 1 + i % pictures};
    p->n = n;
    for (unsigned i = 1; i <= pictures; i++) p->pictures[i] = (struct picture){false, i != 1 + (n - 1) % pictures};
}

static void make_any(struct rng *rng, struct program *p)
{
    bool written[BUFFERS] = {true, [BUFFERS - 1] = true};
    for (unsigned i = 1; i < BUFFERS; i++)
        p->pictures[i] = (struct picture){i >= BUFFERS - 3, i < BUFFERS - 1 && rng_below(rng, 2) == 0};
    unsigned n = 12 + rng_below(rng, MOST_NODES - 12);
    for (unsigned tries = 0; p->n < n && tries < 200; tries++) try_node(rng, p, written);
    if (p->n) p->pictures[p->nodes[p->n - 1].o].internal = false;
}

static void make_program(struct rng *rng, struct program *p)
{
    *p = (struct program){.width = {8 + rng_below(rng, 8)}, .height = {700 + rng_below(rng, 300)}};
    bool internal = rng_below(rng, 3) > 0;
    p->lines = rng_below(rng, 4) > 0;
    p->width[1] = (p->width[0] + 1) / 2;
    p->height[1] = (p->height[0] + 1) / 2;
    if (rng_below(rng, 2))
        make_chain(rng, p);
    else
        make_any(rng, p);
    for (unsigned i = 0; i < BUFFERS; i++) p->pictures[i].internal &= internal;
}

/* ---- runs ---- */

struct run {
    fusion_buffer *buffers[BUFFERS];
    fusion_exec *exec;
};

static size_t pixels(const struct program *p, unsigned picture)
{
    unsigned s = p->pictures[picture].small;
    return (size_t)p->width[s] * p->height[s];
}

static int *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

static void add_kernel(fusion_graph *graph, const struct program *p, unsigned at, const struct run *r)
{
    const struct node *n = &p->nodes[at];
    unsigned to = p->pictures[n->o].small, from = p->pictures[n->a].small;
    char name[16];
    snprintf(name, sizeof name, "n%02u", at);
    fusion_arg args[] = {fusion_arg_read(r->buffers[n->a]),   fusion_arg_read(r->buffers[n->b]),
                         fusion_arg_write(r->buffers[n->o]),  fusion_arg_i32((int)p->width[to]),
                         fusion_arg_i32((int)p->height[to]),  fusion_arg_i32((int)p->width[from]),
                         fusion_arg_i32((int)p->height[from])};
    fusion_kernel_node k = {.name = name, .module = module, .kernel = names[n->kernel], .args = args, .n_args = 7};
    k.dims = 2;
    k.global[0] = p->width[to];
    k.global[1] = n->kernel == TWO_ROWS ? (p->height[to] + 1) / 2 : p->height[to];
    if (p->lines) { /* work-groups of one, else of as many as there are work-items for */
        k.local[0] = p->width[to];
        k.local[1] = 1;
    }
    expect_ok(fusion_graph_add_kernel(graph, &k, NULL));
}

/* What tuning may choose: how many bands, and which launches there are. */
static void make_tuning(struct rng *rng, struct program *p)
{
    int used = snprintf(p->tuning, sizeof p->tuning, "bands=%u", 1u << rng_below(rng, 4));
    if (rng_below(rng, 2)) used += snprintf(p->tuning + used, sizeof p->tuning - (size_t)used, " recompute=no");
    if (rng_below(rng, 2)) snprintf(p->tuning + used, sizeof p->tuning - (size_t)used, " cut=%u", rng_below(rng, p->n));
}

static void make_run(struct run *r, const struct program *p, fusion_mode mode, const char *device)
{
    fusion_graph *graph;
    const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .mode = mode, .device = device,
                                             .tuning = p->tuning};
    for (unsigned i = 0; i < BUFFERS; i++) {
        const char name[] = {'b', (char)('0' + i), 0};
        unsigned properties = p->pictures[i].internal ? FUSION_INTERNAL_MEMORY : 0;
        expect_ok(fusion_buffer_create(session, name, FUSION_I32, pixels(p, i), properties, &r->buffers[i]));
    }
    for (size_t i = 0; i < pixels(p, 0); i++) map(r->buffers[0])[i] = (int)(i * 2654435761u >> 7);
    expect_ok(fusion_graph_create(session, &graph));
    for (unsigned i = 0; i < p->n; i++) add_kernel(graph, p, i, r);
    expect_ok(fusion_graph_finalize(graph, &options, &r->exec));
    fusion_graph_destroy(graph);
}

/* What a submission changes of the scalars: by so much all pictures are lower than when the graph was finalized; and
   one of a node's four is less, of what it reads or, where no picture is internal, of what it writes, too. */
struct change {
    int lines;
    unsigned node, scalar; /* w, h, v, g */
    int less;
};

static struct change make_change(struct rng *rng, const struct program *p, unsigned submission)
{
    bool internal = false;
    for (unsigned i = 0; i < BUFFERS; i++) internal |= p->pictures[i].internal;
    struct change c = {.lines = submission == 1 ? 3 : 0};
    if (submission < 2 || submission == SUBMISSIONS - 1) return c;
    c.node = rng_below(rng, p->n);
    c.scalar = internal ? 2 + rng_below(rng, 2) : rng_below(rng, 4);
    c.less = 1 + (int)rng_below(rng, 4);
    return c;
}

/* So many times, with one call or with as many. */
static void submit_rounds(struct run *r, const struct program *p, const struct change *c, unsigned count, bool at_once)
{
    fusion_event event;
    fusion_rebind rebind[4 * MOST_NODES];
    int scalars[MOST_NODES][4];
    for (unsigned i = 0; i < p->n; i++) {
        unsigned to = p->pictures[p->nodes[i].o].small, from = p->pictures[p->nodes[i].a].small;
        const int own[4] = {(int)p->width[to], (int)p->height[to] - c->lines, (int)p->width[from],
                            (int)p->height[from] - c->lines};
        memcpy(scalars[i], own, sizeof own);
        if (i == c->node) scalars[i][c->scalar] -= c->less;
        for (unsigned k = 0; k < 4; k++)
            rebind[4 * i + k] =
                (fusion_rebind){.node = i, .arg = 3 + k, .value = &scalars[i][k], .value_bytes = sizeof(int)};
    }
    if (at_once) expect_ok(fusion_exec_submit_times(r->exec, count, rebind, 4 * p->n, NULL, &event));
    for (unsigned i = 0; i < count && !at_once; i++) expect_ok(fusion_exec_submit(r->exec, rebind, 4 * p->n, &event));
    expect_ok(fusion_event_wait(session, event, WAIT_MS, NULL));
}

static void submit(struct run *r, const struct program *p, const struct change *c)
{
    submit_rounds(r, p, c, 1, false);
}

static void clear_run(struct run *r)
{
    fusion_exec_destroy(r->exec);
    for (unsigned i = 0; i < BUFFERS; i++) fusion_buffer_destroy(r->buffers[i]);
}

static unsigned count_in(const fusion_report *report, const char *code)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < report->n_remarks; i++) n += strcmp(report->remarks[i].code, code) == 0;
    return n;
}

static unsigned count_remarks(const struct run *r, const char *code)
{
    return count_in(fusion_exec_report(r->exec), code);
}

/* Those with a ring have no other memory: a service that was asked for none says so, and so does the library. */
static unsigned count_rings(const struct run *r)
{
    const fusion_report *report = fusion_exec_report(r->exec);
    fusion_exec_memory_info info = {FUSION_SIZED(fusion_exec_memory_info)};
    unsigned n = 0;
    for (uint32_t i = 0; i < report->n_internalized; i++) {
        if (strcmp(report->internalized[i].memory, "ring") != 0) continue;
        for (uint32_t k = 0; fusion_exec_memory(r->exec, k, &info) == FUSION_SUCCESS; k++)
            if (strcmp(info.name, report->internalized[i].buffer) == 0) assert_true(info.internalized);
        n++;
    }
    return n;
}

static void expect_same(const struct run *a, const struct run *b, const struct program *p, unsigned seed,
                        unsigned submission, const char *way)
{
    for (unsigned i = 0; i < BUFFERS; i++) {
        if (p->pictures[i].internal) continue;
        const int *x = map(a->buffers[i]), *y = map(b->buffers[i]);
        for (size_t k = 0; k < pixels(p, i); k++)
            if (x[k] != y[k])
                fail_msg("case %u, submission %u, buffer %u, element %zu (of rows of %u): %d in bands, %d %s", seed,
                         submission, i, k, p->width[p->pictures[i].small], x[k], y[k], way);
    }
}

/* What was found in all of them. */
struct found {
    unsigned bands, rings;
};

static void run_program(struct rng *rng, const struct program *p, unsigned seed, struct found *found)
{
    struct run fused, apart, interpreted;
    bool interprets = seed % 3 == 0 && p->n <= INTERPRETED;
    make_run(&fused, p, FUSION_ENABLE, NULL);
    make_run(&apart, p, FUSION_NONE, NULL);
    if (interprets) make_run(&interpreted, p, FUSION_NONE, "reference");
    found->bands += count_remarks(&fused, "banded");
    found->rings += count_rings(&fused);
    assert_int_equal(count_rings(&fused), count_remarks(&fused, "ring_memory"));
    assert_int_equal(count_rings(&apart), 0);
    for (unsigned i = 0; i < SUBMISSIONS; i++) {
        struct change c = make_change(rng, p, i);
        submit(&fused, p, &c);
        submit(&apart, p, &c);
        expect_same(&fused, &apart, p, seed, i, "one by one");
        if (!interprets) continue;
        submit(&interpreted, p, &c);
        expect_same(&fused, &interpreted, p, seed, i, "in the interpreter");
    }
    clear_run(&fused);
    clear_run(&apart);
    if (interprets) clear_run(&interpreted);
}

static void random_graphs_in_bands(void **state)
{
    struct found found = {0, 0};
    (void)state;
    if (!session) skip();
    for (unsigned seed = 0; seed < test_cases(16); seed++) {
        struct rng rng = {seed};
        struct program p;
        make_program(&rng, &p);
        if (p.n && seed % 2) make_tuning(&rng, &p);
        if (p.n) run_program(&rng, &p, seed, &found);
    }
    print_message("# %u runs of launches in bands, %u buffers with ring memory\n", found.bands, found.rings);
    assert_true(found.bands > 0 && found.rings > 0);
}

/* ---- time loops ---- */

enum { MOST_ROUNDS = 19, LOOPS = 8 };

/* Steps of which each round reads what the one before has left, in one to four nodes; the first two may have a picture
   to themselves. */
static void make_loop(struct rng *rng, struct program *p)
{
    unsigned pictures = 2 + rng_below(rng, 3);
    *p = (struct program){.width = {8 + rng_below(rng, 8)}, .height = {700 + rng_below(rng, 300)}};
    p->width[1] = p->width[0];
    p->height[1] = p->height[0];
    p->lines = rng_below(rng, 4) > 0;
    p->n = 1 + rng_below(rng, 4);
    for (unsigned i = 0; i < p->n; i++) {
        unsigned o = rng_below(rng, pictures), a = (o + 1 + rng_below(rng, pictures - 1)) % pictures;
        unsigned b = rng_below(rng, pictures), kernel = rng_below(rng, INSIDE + 1);
        p->nodes[i] = (struct node){kernel, a, kernel == INSIDE ? a : b, o};
    }
    if (p->n < 3 || rng_below(rng, 2)) return;
    p->nodes[0].kernel = rng_below(rng, INSIDE);
    p->nodes[0].o = p->nodes[1].a = BUFFERS - 1;
    p->nodes[0].b = p->nodes[0].a;
    if (p->nodes[1].kernel == INSIDE) p->nodes[1].kernel = 0;
    p->pictures[BUFFERS - 1].internal = true;
}

/* Rounds that go together, and bands and rings of their plans. */
struct together {
    unsigned plans, banded, rings;
};

static void run_loop(struct rng *rng, const struct program *p, unsigned seed, struct together *found)
{
    struct run once, each, interpreted;
    uint32_t rounds;
    const fusion_report *report;
    bool interprets = seed % 4 == 0;
    make_run(&once, p, FUSION_ENABLE, NULL);
    make_run(&each, p, FUSION_ENABLE, NULL);
    if (interprets) make_run(&interpreted, p, FUSION_NONE, "reference");
    expect_ok(fusion_exec_rounds(once.exec, WAIT_MS, &rounds, &report));
    assert_true((rounds > 1) == (report != NULL));
    found->plans += rounds > 1;
    if (report) {
        unsigned banded = count_in(report, "banded");
        found->banded += banded;
        found->rings += count_in(report, "ring_memory");
        assert_true(banded || report->launches < rounds * fusion_exec_report(once.exec)->launches);
    }
    for (unsigned i = 0; i < 3; i++) {
        struct change c = make_change(rng, p, i);
        unsigned count = i ? 1 + rng_below(rng, MOST_ROUNDS) : 9;
        submit_rounds(&once, p, &c, count, true);
        submit_rounds(&each, p, &c, count, false);
        expect_same(&once, &each, p, seed, i, "round by round");
        if (!interprets || i) continue;
        submit_rounds(&interpreted, p, &c, count, false);
        expect_same(&once, &interpreted, p, seed, i, "in the interpreter");
    }
    clear_run(&once);
    clear_run(&each);
    if (interprets) clear_run(&interpreted);
}

static void random_loops(void **state)
{
    struct together found = {0, 0, 0};
    (void)state;
    if (!session) skip();
    for (unsigned seed = 0; seed < test_cases(LOOPS); seed++) {
        struct rng rng = {seed};
        struct program p;
        make_loop(&rng, &p);
        run_loop(&rng, &p, seed, &found);
    }
    print_message("# %u plans of several rounds, %u runs in bands, %u rings\n", found.plans, found.banded, found.rings);
    assert_true(found.plans >= test_cases(LOOPS) / 3 && found.banded > 0);
}

#define LOOPS_ON(isa)                                                                                                  \
    {                                                                                                                  \
        "random_loops_" isa, random_loops, start, stop, (void *)isa                                                    \
    }
#define ON(isa)                                                                                                        \
    {                                                                                                                  \
        "random_graphs_in_bands_" isa, random_graphs_in_bands, start, stop, (void *)isa                                \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {ON("generic"), ON("sse4"), ON("avx2"), ON("avx512"), LOOPS_ON("avx512")};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
