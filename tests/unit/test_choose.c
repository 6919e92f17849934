/* The choice of groups against all there are: each order of a small graph, cut in each way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/support/cases.h"
#include "tests/support/graph_make.h"
#include "tests/support/plan_check.h"
#include "tests/support/rng.h"

enum { N = 64, BYTES = 4 * N, MOST_NODES = 7, BUFFERS = 6 };

/* Sub-groups of a size that is required: kernels with different ones are not fused. */
#define SIZED(size, attributes)                                                                                        \
    "kernel @inc" size "(%o: ptr.global i32) " attributes " {\n"                                                       \
    "    %i = global_id x\n"                                                                                           \
    "    %x = load i32 %o[%i]\n"                                                                                       \
    "    %s = add i32 %x, 1\n"                                                                                         \
    "    store i32 %o[%i], %s\n"                                                                                       \
    "}\n"                                                                                                              \
    "kernel @add" size "(%a: ptr.global i32, %b: ptr.global i32, %o: ptr.global i32) " attributes " {\n"               \
    "    %i = global_id x\n"                                                                                           \
    "    %x = load i32 %a[%i]\n"                                                                                       \
    "    %y = load i32 %b[%i]\n"                                                                                       \
    "    %s = add i32 %x, %y\n"                                                                                        \
    "    store i32 %o[%i], %s\n"                                                                                       \
    "}\n"                                                                                                              \
    "kernel @flip" size "(%a: ptr.global i32, %o: ptr.global i32) " attributes " {\n"                                  \
    "    %i = global_id x\n"                                                                                           \
    "    %j = sub i64 63, %i\n"                                                                                        \
    "    %x = load i32 %a[%j]\n"                                                                                       \
    "    store i32 %o[%i], %x\n"                                                                                       \
    "}\n"

static const char kernels[] = SIZED("", "") SIZED("8", "sub_group_size(8)") SIZED("16", "sub_group_size(16)");

/* What a node does with each buffer. */
enum use { UNUSED = 0, READS = 1, WRITES = 2, FLIPPED = 4 /* reads other elements than its own */ };

struct model_node {
    bool command;
    unsigned use[BUFFERS];
    uint32_t sub_group; /* 0: any */
};

struct model {
    uint32_t n;
    struct model_node nodes[MOST_NODES];
    unsigned before[MOST_NODES]; /* bits of the nodes it depends on directly */
    bool internal[BUFFERS];
};

/* ---- the model: its edges, its rules, its bytes ---- */

static bool touch(const struct model_node *a, const struct model_node *b)
{
    for (int i = 0; i < BUFFERS; i++)
        if (a->use[i] && b->use[i] && ((a->use[i] | b->use[i]) & WRITES)) return true;
    return false;
}

static void find_edges(struct model *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (touch(&m->nodes[k], &m->nodes[i])) m->before[i] |= 1u << k;
}

/* As one kernel, no element goes from a work-item to another one. */
static bool may_share(const struct model_node *a, const struct model_node *b)
{
    if (a->command || b->command || (a->sub_group && b->sub_group && a->sub_group != b->sub_group)) return false;
    for (int i = 0; i < BUFFERS; i++)
        if (a->use[i] && b->use[i] && ((a->use[i] | b->use[i]) & WRITES) && ((a->use[i] | b->use[i]) & FLIPPED))
            return false;
    return true;
}

static uint64_t launch_bytes(const struct model *m, const uint32_t *nodes, uint32_t n)
{
    uint64_t sum = 0;
    for (int b = 0; b < BUFFERS; b++) {
        bool read = false, written = false, outside = false;
        unsigned inside = 0;
        for (uint32_t i = 0; i < n; i++) {
            unsigned use = m->nodes[nodes[i]].use[b];
            inside |= 1u << nodes[i];
            read |= use & READS && !written;
            written |= use & WRITES;
        }
        for (uint32_t i = 0; i < m->n; i++) outside |= m->nodes[i].use[b] && !(inside & (1u << i));
        if (!m->internal[b] || outside || !written) sum += BYTES * ((unsigned)read + written);
    }
    return sum;
}

/* ---- all orders, all cuts ---- */

struct cost {
    uint32_t launches;
    uint64_t bytes;
};

struct search {
    const struct model *m;
    struct cost best;
    uint32_t n, order[MOST_NODES], first; /* of the launch that is being filled */
    unsigned done;
};

static bool less(struct cost a, struct cost b)
{
    return a.launches < b.launches || (a.launches == b.launches && a.bytes < b.bytes);
}

static bool joins_last(const struct search *s, uint32_t node)
{
    for (uint32_t i = s->first; i < s->n; i++)
        if (!may_share(&s->m->nodes[s->order[i]], &s->m->nodes[node])) return false;
    return s->first < s->n;
}

static void search(struct search *s, struct cost cost);

static void place(struct search *s, uint32_t node, uint32_t first, struct cost cost)
{
    uint32_t before = s->first;
    s->order[s->n++] = node;
    s->done |= 1u << node;
    s->first = first;
    search(s, cost);
    s->first = before;
    s->done &= ~(1u << node);
    s->n--;
}

/* cost: with the launch that is being filled counted, but not its bytes. */
static void search(struct search *s, struct cost cost)
{
    const struct model *m = s->m;
    struct cost closed = {cost.launches, cost.bytes + launch_bytes(m, &s->order[s->first], s->n - s->first)};
    if (cost.launches > s->best.launches) return;
    if (s->n == m->n && less(closed, s->best)) s->best = closed;
    for (uint32_t node = 0; node < m->n; node++) {
        if ((s->done & (1u << node)) || (m->before[node] & ~s->done)) continue;
        if (m->nodes[node].command) {
            place(s, node, s->n + 1, closed);
            continue;
        }
        if (joins_last(s, node)) place(s, node, s->first, cost);
        place(s, node, s->n, (struct cost){closed.launches + 1, closed.bytes});
    }
}

static struct cost best_of_all(const struct model *m)
{
    struct search s = {.m = m, .best = {UINT32_MAX, 0}};
    search(&s, (struct cost){0, 0});
    return s.best;
}

/* ---- random ones ---- */

/* A buffer that nobody has written is overwritten, any other updated: what is written is used. */
static uint32_t pick_output(struct rng *rng, const bool *written)
{
    uint32_t b = rng_below(rng, BUFFERS);
    for (int i = 0; i < BUFFERS && written[b]; i++) b = (b + 1) % BUFFERS;
    return b;
}

static uint32_t other_buffer(struct rng *rng, uint32_t than)
{
    return (than + 1 + rng_below(rng, BUFFERS - 1)) % BUFFERS;
}

static void random_node(struct rng *rng, struct model_node *n, bool *written)
{
    static const uint32_t sizes[] = {0, 0, 0, 8, 16};
    uint32_t output = pick_output(rng, written);
    *n = (struct model_node){.sub_group = sizes[rng_below(rng, 5)]};
    if (written[output] || rng_chance(rng, 15)) {
        n->use[rng_below(rng, BUFFERS)] = READS | WRITES;
    } else {
        n->command = rng_chance(rng, 12);
        bool flips = !n->command && rng_chance(rng, 45);
        n->use[output] = WRITES;
        n->use[other_buffer(rng, output)] = flips ? READS | FLIPPED : READS;
        if (!flips && !n->command) n->use[other_buffer(rng, output)] = READS;
    }
    for (int b = 0; b < BUFFERS; b++) written[b] |= n->use[b] & WRITES;
}

static struct model random_model(uint64_t seed)
{
    struct rng rng = {seed};
    bool written[BUFFERS] = {false};
    struct model m = {.n = 3 + rng_below(&rng, MOST_NODES - 2)};
    for (uint32_t i = 0; i < m.n; i++) random_node(&rng, &m.nodes[i], written);
    for (int b = 0; b < BUFFERS; b++) {
        unsigned last = 0;
        for (uint32_t i = 0; i < m.n; i++)
            if (m.nodes[i].use[b]) last = m.nodes[i].use[b];
        m.internal[b] = written[b] && !(last & WRITES) && rng_chance(&rng, 60);
    }
    find_edges(&m);
    return m;
}

static void add_node(struct test_graph *g, const struct model_node *n, const char *name)
{
    struct fuser_arg args[4];
    uint32_t n_args = 0, output = 0, from = 0;
    bool flips = false, updates = false;
    for (uint32_t b = 0; b < BUFFERS; b++) {
        if (n->use[b] & WRITES) output = b;
        updates |= n->use[b] == (READS | WRITES);
        flips |= (n->use[b] & FLIPPED) != 0;
        if (n->use[b] & READS && !(n->use[b] & WRITES)) args[n_args++] = test_arg_buffer(from = b);
    }
    if (n->command) {
        test_copy(g, name, from, output, BYTES);
        return;
    }
    if (!updates && !flips && n_args == 1) args[n_args++] = args[0]; /* add a buffer to itself */
    args[n_args++] = test_arg_buffer(output);
    char kernel[16];
    snprintf(kernel, sizeof kernel, "%s%.0u", updates ? "inc" : flips ? "flip" : "add", n->sub_group);
    test_kernel(g, name, kernel, test_range(N, 0), args, n_args);
}

/* sequence: in which the nodes are recorded. */
static struct test_graph *make(const struct model *m, const uint32_t *sequence)
{
    struct test_graph *g = test_graph_new(kernels);
    char name[8];
    for (int b = 0; b < BUFFERS; b++) {
        snprintf(name, sizeof name, "b%d", b);
        test_buffer(g, name, IR_I32, N,
                    (struct fuser_props){.internal_memory = m->internal[b], .no_init = m->internal[b]});
    }
    for (uint32_t i = 0; i < m->n; i++) {
        snprintf(name, sizeof name, "n%u", sequence[i]);
        add_node(g, &m->nodes[sequence[i]], name);
    }
    return g;
}

/* Another sequence with the same edges. */
static void shuffle(const struct model *m, struct rng *rng, uint32_t *sequence)
{
    for (int k = 0; k < 30; k++) {
        uint32_t i = rng_below(rng, m->n - 1), a = sequence[i], b = sequence[i + 1];
        if (touch(&m->nodes[a], &m->nodes[b])) continue;
        sequence[i] = b;
        sequence[i + 1] = a;
    }
}

/* ---- plans ---- */

static uint32_t model_index(const struct test_graph *g, uint32_t node)
{
    return (uint32_t)(g->graph.nodes[node].name[1] - '0');
}

static void check_legal(const struct model *m, const struct test_graph *g, const struct fuser_plan *plan)
{
    unsigned done = 0;
    for (uint32_t i = 0; i < plan->n_order; i++) {
        uint32_t node = model_index(g, plan->order[i]);
        assert_int_equal(m->before[node] & ~done, 0);
        done |= 1u << node;
    }
    for (uint32_t i = 0; i < plan->n_launches; i++)
        for (uint32_t a = 0; a < plan->launches[i].n_nodes; a++)
            for (uint32_t b = 0; b < a; b++)
                assert_true(may_share(&m->nodes[model_index(g, plan->launches[i].nodes[b])],
                                      &m->nodes[model_index(g, plan->launches[i].nodes[a])]));
}

static uint64_t command_bytes(const struct model *m)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->n; i++) sum += m->nodes[i].command ? 2 * BYTES : 0;
    return sum;
}

static void text_of(const struct test_graph *g, const struct fuser_plan *plan, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < plan->n_order; i++)
        used += (size_t)snprintf(text + used, size - used, "%s ", g->graph.nodes[plan->order[i]].name);
    for (uint32_t i = 0; i < plan->n_launches; i++) {
        used += (size_t)snprintf(text + used, size - used, "|");
        for (uint32_t k = 0; k < plan->launches[i].n_nodes; k++)
            used += (size_t)snprintf(text + used, size - used, "%s ", g->graph.nodes[plan->launches[i].nodes[k]].name);
    }
}

static void describe(const struct model *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        print_message("# n%u %s sub-group %u:", i, m->nodes[i].command ? "copy" : "kernel", m->nodes[i].sub_group);
        for (int b = 0; b < BUFFERS; b++)
            if (m->nodes[i].use[b])
                print_message(" b%d%s%s%s%s", b, m->internal[b] ? "(internal)" : "",
                              m->nodes[i].use[b] & READS ? " read" : "", m->nodes[i].use[b] & FLIPPED ? " flipped" : "",
                              m->nodes[i].use[b] & WRITES ? " written" : "");
        print_message("\n");
    }
}

static void small_graphs_get_the_best_groups(void **state)
{
    (void)state;
    unsigned n_cut = 0;
    for (uint64_t seed = 1; seed <= test_cases(300); seed++) {
        struct model m = random_model(seed);
        struct cost best = best_of_all(&m);
        uint32_t sequence[MOST_NODES] = {0, 1, 2, 3, 4, 5, 6};
        char text[300], again[300];
        struct test_graph *g = make(&m, sequence);
        g->options.debug = true; /* no kernel does the work of another, which the model does not know */
        struct fuser_plan *plan = check_planned(g);
        text_of(g, plan, text, sizeof text);
        if (plan->n_launches != best.launches || plan->bytes_fused != best.bytes + command_bytes(&m)) {
            describe(&m);
            fail_msg("seed %u: %u launches, %u bytes; there are %u, %u: %s", (unsigned)seed, plan->n_launches,
                     (unsigned)plan->bytes_fused, best.launches, (unsigned)(best.bytes + command_bytes(&m)), text);
        }
        check_legal(&m, g, plan);
        n_cut += plan->n_launches > 1;
        fuser_plan_free(plan);
        test_graph_free(g);
        shuffle(&m, &(struct rng){seed}, sequence);
        g = make(&m, sequence);
        g->options.debug = true;
        plan = check_planned(g);
        text_of(g, plan, again, sizeof again);
        assert_string_equal(text, again);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
    assert_true(n_cut > test_cases(300) / 2);
}

/* ---- single decisions ---- */

static const struct fuser_props none = {0};

static void kernel(struct test_graph *g, const char *name, const char *kernel, const char *args)
{
    struct fuser_arg list[3];
    uint32_t n = 0;
    for (; *args; args++)
        for (uint32_t b = 0; b < g->graph.n_buffers; b++)
            if (g->graph.buffers[b].name[0] == *args) list[n++] = test_arg_buffer(b);
    test_kernel(g, name, kernel, test_range(N, 0), list, n);
}

static void buffers(struct test_graph *g, const char *names, struct fuser_props props)
{
    for (; *names; names++) test_buffer(g, (char[]){*names, 0}, IR_I32, N, props);
}

/* x could run first, but then t would go through memory. The host task, which nobody waits for, stays behind. */
static void a_kernel_waits_for_its_reader(void **state)
{
    (void)state;
    for (int internal = 0; internal < 2; internal++) {
        struct test_graph *g = test_graph_new(kernels);
        buffers(g, "ijuvo", none);
        buffers(g, "t", (struct fuser_props){.internal_memory = internal});
        kernel(g, "x", "add", "iit");
        kernel(g, "s", "add", "jju");
        kernel(g, "w", "flip", "uv");
        kernel(g, "y", "add", "tvo");
        test_host(g, "h", (struct fuser_arg[]){test_arg_buffer(2)}, 1);
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, "s|x w y");
        check_internalized(g, plan, internal ? "t" : "");
        check_remark(plan, "not_fused_traffic", "x", "",
                     internal ? "x could be fused with s, but these groups move 1536 bytes of memory, and none were "
                                "found that are as few and move less"
                              : "x could be fused with s, but these groups move 1792 bytes");
        assert_string_equal(g->graph.nodes[plan->order[plan->n_order - 1]].name, "h");
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

/* Of many kernels neighbouring groups are made better: x waits for its reader in each round of a longer graph. */
static void plan_rounds(bool internal, const char *launches, const char *internalized)
{
    enum { ROUNDS = 4 };
    struct test_graph *g = test_graph_new(kernels);
    buffers(g, "i", none);
    for (uint32_t k = 0; k < ROUNDS; k++) {
        uint32_t first = g->graph.n_buffers, in = k ? first - 1 : 0;
        char name[] = {0, (char)('0' + k), 0};
        for (const char *b = "tuvo"; *b; b++) {
            name[0] = *b;
            test_buffer(g, name, IR_I32, N, (struct fuser_props){.internal_memory = internal && *b == 't'});
        }
        struct {
            const char *name, *kernel;
            uint32_t args[3], n;
        } nodes[] = {{"x", "add", {in, in, first}, 3},
                     {"s", "add", {in, in, first + 1}, 3},
                     {"w", "flip", {first + 1, first + 2}, 2},
                     {"y", "add", {first, first + 2, first + 3}, 3},
                     {"z", "flip", {first + 3, first + 2}, 2}};
        for (unsigned n = 0; n < sizeof nodes / sizeof *nodes; n++) {
            struct fuser_arg args[3];
            for (uint32_t i = 0; i < nodes[n].n; i++) args[i] = test_arg_buffer(nodes[n].args[i]);
            name[0] = *nodes[n].name;
            if (n < 4 || k + 1 < ROUNDS) test_kernel(g, name, nodes[n].kernel, test_range(N, 0), args, nodes[n].n);
        }
    }
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, launches);
    check_internalized(g, plan, internalized);
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void windows_of_many_are_improved(void **state)
{
    (void)state;
    plan_rounds(false, "s0 x0|w0 y0 s1 x1|z0 w1 y1 s2 x2|w2 y2 s3|z1 x3 z2 w3 y3", "");
}

/* With its reader it needs no memory for what it writes. */
static void kernels_wait_for_their_reader(void **state)
{
    (void)state;
    plan_rounds(true, "s0|x0 w0 y0 s1|x1 z0 w1 y1 s2|x2 z1 w2 y2 s3|x3 z2 w3 y3", "t0 t1 t2 t3");
}

/* Scalars of one buffer are apart: who writes one need not wait for who reads another. */
static void scalars_of_one_buffer(void **state)
{
    (void)state;
    static const char text[] = "kernel @use(%s: ptr.global i32, %o: ptr.global i32) {\n"
                               "    %i = global_id x\n %x = load i32 %s[1]\n store i32 %o[%i], %x\n}\n"
                               "kernel @put1(%s: ptr.global i32) { store i32 %s[1], 5 }\n"
                               "kernel @put2(%s: ptr.global i32) { %x = load i32 %s\n store i32 %s[2], %x }\n";
    struct test_graph *g = test_graph_new(text);
    buffers(g, "so", none);
    struct fuser_arg args[] = {test_arg_buffer(0), test_arg_buffer(1)};
    test_kernel(g, "c", "use", test_range(N, 0), args, 2);
    test_kernel(g, "b", "put2", test_range(1, 0), args, 1);
    test_kernel(g, "a", "put1", test_range(1, 0), args, 1);
    g->options.mode = FUSER_MODE_NONE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "b|c|a");
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* In each of the pairs of chains one has to be cut behind its first kernel, one behind its second. */
static struct test_graph *chains(uint32_t n, bool backwards)
{
    struct test_graph *g = test_graph_new(kernels);
    char name[16];
    for (uint32_t i = 0; i < 8 * n; i++) {
        snprintf(name, sizeof name, "%u", i);
        test_buffer(g, name, IR_I32, N, none);
    }
    for (uint32_t i = 0; i < 6 * n; i++) {
        uint32_t chain = backwards ? 2 * n - 1 - i / 3 : i / 3, step = i % 3, from = 4 * chain + step;
        bool flips = chain % 2 ? step == 2 : step == 1;
        struct fuser_arg args[] = {test_arg_buffer(from), test_arg_buffer(from), test_arg_buffer(from + 1)};
        snprintf(name, sizeof name, "%c%u.%u", chain % 2 ? 'z' : 'b', chain, step);
        test_kernel(g, name, flips ? "flip" : "add", test_range(N, 0), flips ? &args[1] : args, flips ? 2 : 3);
    }
    return g;
}

static void large_graphs_are_swept(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 20; n++) {
        struct test_graph *g = chains(n, false);
        struct fuser_plan *plan = check_planned(g);
        assert_int_equal(plan->n_launches, 2); /* by depth and name it would be three */
        check_no_remark(plan, "not_fused_traffic");
        struct test_graph *other = chains(n, true); /* the same, recorded in another sequence */
        struct fuser_plan *again = check_planned(other);
        for (uint32_t i = 0; i < plan->n_order; i++)
            assert_string_equal(g->graph.nodes[plan->order[i]].name, other->graph.nodes[again->order[i]].name);
        fuser_plan_free(again);
        test_graph_free(other);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

/* A copy between two chains: what does not wait for it runs before. */
static void commands_go_between_groups(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    buffers(g, "iuvwxo", none);
    kernel(g, "a", "add", "iiu");
    test_in_rows(g, test_copy(g, "c", 1, 2, BYTES / 2), 2);
    kernel(g, "d", "flip", "vw");
    kernel(g, "b", "flip", "ix");
    kernel(g, "e", "flip", "xo");
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "a b|e d");
    check_remark(plan, "not_fused_command", "c", "", "neither before nor after all kernels");
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* require_fusion wants one launch: nothing is looked for. */
static void a_required_fusion_names_the_cut(void **state)
{
    (void)state;
    struct test_graph *g = chains(1, false);
    g->options.mode = FUSER_MODE_REQUIRE;
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node b0.1", "cannot run as one kernel");
    test_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_waits_for_its_reader),   cmocka_unit_test(windows_of_many_are_improved),
        cmocka_unit_test(kernels_wait_for_their_reader),   cmocka_unit_test(scalars_of_one_buffer),
        cmocka_unit_test(large_graphs_are_swept),          cmocka_unit_test(commands_go_between_groups),
        cmocka_unit_test(a_required_fusion_names_the_cut), cmocka_unit_test(small_graphs_get_the_best_groups),
    };
    return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
