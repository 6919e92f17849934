/* Random graphs: what is proved holds when it is watched, what is asserted and false is found, and the plan is the same
   however and wherever the graph was built. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_plant.h"
#include "tests/support/rng.h"

/* ---- watched ---- */

static void proofs_hold_when_watched(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_graphs(500); seed++) {
        struct random_graph_knobs knobs = random_graph_knobs(seed);
        struct test_graph *g = random_graph_new(seed, &knobs);
        g->options.debug = true;
        struct fuser_plan *plan = check_planned(g);
        struct graph_memory m = graph_memory_new(&g->graph, seed);
        char why[1500];
        if (!run_watched(&g->graph, plan, &m, why, sizeof why))
            fail_msg("seed %u: %s\n%s", seed, why, random_graph_text(g));
        graph_memory_free(&m);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

/* ---- conditions ---- */

static unsigned count_remarks(const struct fuser_plan *plan, const char *code)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < plan->n_remarks; i++) n += strcmp(plan->remarks[i].code, code) == 0;
    return n;
}

static unsigned count_at_least(const struct fuser_plan *plan)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < plan->n_launches; i++)
        for (uint32_t k = 0; k < plan->launches[i].n_conditions; k++) n += plan->launches[i].conditions[k].at_least;
    return n;
}

/* Copies and fills in launches. */
static unsigned count_commands(const struct fuser_graph *g, const struct fuser_plan *plan)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < plan->n_launches; i++)
        for (uint32_t k = 0; k < plan->launches[i].n_nodes; k++)
            n += g->nodes[plan->launches[i].nodes[k]].kind != FUSER_NODE_KERNEL;
    return n;
}

/* Fused, the graph does what its nodes do one by one, whatever the values are: as it was made for, or others. */
static void any_values_do(void **state)
{
    (void)state;
    unsigned conditional = 0, nowhere = 0, recomputed = 0, commands = 0, overwritten = 0, at_least = 0;
    for (unsigned seed = 0; seed < test_graphs(500); seed++) {
        struct random_graph_knobs knobs = random_graph_knobs(seed);
        struct test_graph *g = random_graph_new(seed, &knobs);
        struct fuser_plan *plan = check_planned(g);
        struct rng rng = {seed};
        char why[1500];
        conditional += plan->n_spares != 0;
        for (uint32_t i = 0; i < g->graph.n_buffers; i++) nowhere += plan->storage[i] == FUSER_STORAGE_NOWHERE;
        recomputed += count_remarks(plan, "recomputed");
        overwritten += count_remarks(plan, "overwritten");
        at_least += count_at_least(plan);
        commands += count_commands(&g->graph, plan);
        for (int changed = 0; changed < 3; changed++) {
            struct graph_memory a = graph_memory_new(&g->graph, seed), b = graph_memory_new(&g->graph, seed);
            for (uint32_t i = 0; i < g->graph.n_values && changed; i++) {
                bool wide = g->graph.values[i].number;
                int64_t number = wide ? 3 + (int64_t)rng_below(&rng, 15) : (int64_t)rng_below(&rng, 8);
                if (g->graph.values[i].number >= 32) number = 40 + (int64_t)rng_below(&rng, 40);
                if (rng_chance(&rng, 60)) continue;
                graph_memory_set(&a, i, number);
                graph_memory_set(&b, i, number);
            }
            if (!run_graph(&g->graph, &a, why, sizeof why) || !run_plan(&g->graph, plan, &b, why, sizeof why) ||
                !same_memory(plan, &a, &b, why, sizeof why))
                fail_msg("seed %u, %s values: %s\n%s", seed, changed ? "other" : "the same", why, random_graph_text(g));
            graph_memory_free(&a);
            graph_memory_free(&b);
        }
        fuser_plan_free(plan);
        test_graph_free(g);
    }
    print_message(
        "# %u graphs with conditions, %u buffers nowhere, %u computed again, %u copies and fills in launches, "
        "%u overwritten, %u arguments at least something\n",
        conditional, nowhere, recomputed, commands, overwritten, at_least);
    if (test_graphs(500) >= 500)
        assert_true(conditional && nowhere && recomputed && commands && overwritten && at_least);
}

/* ---- planted ---- */

static uint32_t launch_of(const struct fuser_plan *plan, uint32_t node)
{
    for (uint32_t i = 0; i < plan->n_launches; i++)
        for (uint32_t k = 0; k < plan->launches[i].n_nodes; k++)
            if (plan->launches[i].nodes[k] == node) return i;
    fail_msg("node %u is in no launch", node);
    return 0;
}

static void expect_found(const struct plant *p, const char *why, unsigned seed)
{
    char item[40], other[40];
    snprintf(item, sizeof item, "work-item %u of plant", p->items[0]);
    snprintf(other, sizeof other, "work-item %u of plant", p->items[1]);
    bool items = strstr(why, item) && (p->kind == PLANT_NO_INIT || (strstr(why, other) && strstr(why, "plant1")));
    if (!strstr(why, p->says) || !strstr(why, "buffer planted") || !strstr(why, "plant2 (line ") ||
        !strstr(why, "element ") || !items)
        fail_msg("seed %u: planted was %s, items %u and %u, but found: %s", seed, p->says, p->items[0], p->items[1],
                 why);
}

/* The graph with what was planted, right and wrong: watched, and where it is right fused as well. */
static void check_plant(struct test_graph *g, const struct plant *p, unsigned seed, bool expected)
{
    g->options.debug = true;
    struct fuser_plan *plan = check_planned(g);
    bool together = launch_of(plan, p->first) == launch_of(plan, p->second);
    char why[1500];
    if (expected) assert_true(together);
    for (int wrong = 0; wrong < 2; wrong++) {
        struct graph_memory a = graph_memory_new(&g->graph, seed), b = graph_memory_new(&g->graph, seed);
        random_plant_fill(p, &a, wrong);
        random_plant_fill(p, &b, wrong);
        bool found = !run_watched(&g->graph, plan, &a, why, sizeof why);
        if (found && !wrong) fail_msg("seed %u: nothing is wrong, but: %s", seed, why);
        if (!found && wrong && (together || p->kind == PLANT_NO_INIT))
            fail_msg("seed %u: not found: %s\n%s", seed, p->says, random_graph_text(g));
        if (found) expect_found(p, why, seed);
        if (!found && (!run_plan(&g->graph, plan, &b, why, sizeof why) || !same_memory(plan, &a, &b, why, sizeof why)))
            fail_msg("seed %u: %s\n%s", seed, why, random_graph_text(g));
        graph_memory_free(&a);
        graph_memory_free(&b);
    }
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void what_is_planted_is_found(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_graphs(500); seed++) {
        struct random_graph_knobs knobs = random_graph_knobs(seed);
        enum plant_kind kind = (enum plant_kind)(seed / 2 % PLANT_KINDS);
        bool required = seed % 2;
        knobs.barriers = kind == PLANT_GROUP_SCOPE;
        if (required) {
            knobs.plain = true;
            knobs.commands = knobs.pieces = 0;
            knobs.ranges = 1;
        }
        struct test_graph *g = random_graph_new(seed, &knobs);
        struct plant p = random_plant(g, kind, seed);
        g->options.mode = required ? FUSER_MODE_REQUIRE : FUSER_MODE_ENABLE;
        check_plant(g, &p, seed, required);
    }
}

/* ---- however it was built ---- */

/* What a node does with a buffer; 2: writes, 1: reads, 0: nothing. Kernels of random graphs write their first argument.
 */
static unsigned use_of(const struct fuser_node *n, uint32_t buffer)
{
    unsigned most = 0;
    if (n->kind == FUSER_NODE_COPY || n->kind == FUSER_NODE_FILL) {
        bool reads = n->kind == FUSER_NODE_COPY && n->from.buffer == buffer;
        return n->to.buffer == buffer ? 2 : reads;
    }
    for (uint32_t i = 0; i < n->n_args; i++) {
        if (n->args[i].kind != FUSER_ARG_BUFFER || n->args[i].index != buffer) continue;
        bool writes = n->kind == FUSER_NODE_HOST ? n->args[i].access != IR_ACCESS_READ : i == 0;
        if (most < 1u + writes) most = 1u + writes;
    }
    return most;
}

/* The sequence of the two counts: it gives the direction of an edge. */
static bool are_related(const struct fuser_graph *g, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < g->n_buffers; i++)
        if (use_of(&g->nodes[a], i) + use_of(&g->nodes[b], i) > 2 && use_of(&g->nodes[a], i) && use_of(&g->nodes[b], i))
            return true;
    return false;
}

/* Another sequence in which related nodes stay as they were: place[i] is node i's. */
static void shuffle_nodes(const struct fuser_graph *g, struct rng *rng, uint32_t *place)
{
    bool *placed = calloc(g->n_nodes + 1, sizeof *placed);
    for (uint32_t at = 0; at < g->n_nodes; at++) {
        uint32_t pick = rng_below(rng, g->n_nodes);
        for (bool ready = false; !ready;) {
            pick = (pick + 1) % g->n_nodes;
            ready = !placed[pick];
            for (uint32_t i = 0; i < pick && ready; i++) ready = placed[i] || !are_related(g, i, pick);
        }
        placed[pick] = true;
        place[pick] = at;
    }
    free(placed);
}

static void shuffle_numbers(uint32_t n, struct rng *rng, uint32_t *to)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = rng_below(rng, i + 1);
        to[i] = to[k];
        to[k] = i;
    }
}

/* The same graph, its nodes, buffers and values recorded in another sequence. */
static struct fuser_graph rebuilt(struct arena *arena, const struct fuser_graph *g, struct rng *rng)
{
    struct fuser_graph other = *g;
    uint32_t *place = arena_alloc(arena, (g->n_nodes + 1) * sizeof *place);
    uint32_t *buffer = arena_alloc(arena, (g->n_buffers + 1) * sizeof *buffer);
    uint32_t *value = arena_alloc(arena, (g->n_values + 1) * sizeof *value);
    shuffle_nodes(g, rng, place);
    shuffle_numbers(g->n_buffers, rng, buffer);
    shuffle_numbers(g->n_values, rng, value);
    other.nodes = arena_alloc(arena, (g->n_nodes + 1) * sizeof *other.nodes);
    other.buffers = arena_alloc(arena, (g->n_buffers + 1) * sizeof *other.buffers);
    other.values = arena_alloc(arena, (g->n_values + 1) * sizeof *other.values);
    for (uint32_t i = 0; i < g->n_buffers; i++) other.buffers[buffer[i]] = g->buffers[i];
    for (uint32_t i = 0; i < g->n_values; i++) other.values[value[i]] = g->values[i];
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        struct fuser_node *n = &other.nodes[place[i]];
        *n = g->nodes[i];
        n->from.buffer = buffer[n->from.buffer];
        n->to.buffer = buffer[n->to.buffer];
        n->args = arena_alloc(arena, (n->n_args + 1) * sizeof *n->args);
        n->deps = arena_alloc(arena, (n->n_deps + 1) * sizeof *n->deps);
        for (uint32_t k = 0; k < n->n_args; k++) {
            n->args[k] = g->nodes[i].args[k];
            if (n->args[k].kind == FUSER_ARG_BUFFER) n->args[k].index = buffer[n->args[k].index];
            if (n->args[k].kind == FUSER_ARG_VALUE) n->args[k].index = value[n->args[k].index];
        }
        for (uint32_t k = 0; k < n->n_deps; k++) n->deps[k] = place[g->nodes[i].deps[k]];
    }
    return other;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The order, the launches, and the buffers without memory, by name. */
static char *plan_text(const struct fuser_graph *g, const struct fuser_options *options)
{
    struct error error;
    struct fuser_plan *plan = fuser_plan_new(g, options, &error);
    struct strbuf s = {0};
    if (!plan) fail_msg("%s: %s", error.object, error.reason);
    for (uint32_t i = 0; i < plan->n_order; i++) strbuf_printf(&s, "%s ", g->nodes[plan->order[i]].name);
    for (uint32_t i = 0; i < plan->n_launches; i++) {
        strbuf_printf(&s, "|");
        for (uint32_t k = 0; k < plan->launches[i].n_nodes; k++)
            strbuf_printf(&s, " %s", g->nodes[plan->launches[i].nodes[k]].name);
    }
    const char **homes = calloc(g->n_buffers + 1, sizeof *homes);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_buffers; i++)
        if (plan->storage[i] != FUSER_STORAGE_MEMORY) homes[n++] = g->buffers[i].name;
    qsort(homes, n, sizeof *homes, by_text);
    for (uint32_t i = 0; i < n; i++) strbuf_printf(&s, "; %s", homes[i]);
    free(homes);
    fuser_plan_free(plan);
    return strbuf_take(&s);
}

static void another_sequence_is_the_same_plan(void **state)
{
    (void)state;
    unsigned moved = 0;
    for (unsigned seed = 0; seed < test_graphs(500); seed++) {
        struct random_graph_knobs knobs = random_graph_knobs(seed);
        struct test_graph *g = random_graph_new(seed, &knobs);
        struct arena *arena = arena_new();
        struct rng rng = {seed};
        struct fuser_graph other = rebuilt(arena, &g->graph, &rng);
        char *a = plan_text(&g->graph, &g->options), *b = plan_text(&other, &g->options);
        if (strcmp(a, b) != 0) fail_msg("seed %u:\n%s\n%s\n%s", seed, a, b, random_graph_text(g));
        for (uint32_t i = 0; i < other.n_nodes; i++) moved += other.nodes[i].name != g->graph.nodes[i].name;
        free(a);
        free(b);
        arena_free(arena);
        test_graph_free(g);
    }
    print_message("# %u nodes recorded elsewhere in the sequence\n", moved);
    assert_true(moved > 0);
}

/* ---- wherever it was built ---- */

enum { PROCESS_GRAPHS = 100 };

static void print_plans(FILE *out)
{
    for (unsigned seed = 0; seed < PROCESS_GRAPHS; seed++) {
        struct random_graph_knobs knobs = random_graph_knobs(seed);
        struct test_graph *g = random_graph_new(seed, &knobs);
        char *text = plan_text(&g->graph, &g->options);
        fprintf(out, "%s\n", text);
        free(text);
        test_graph_free(g);
    }
}

/* Another process has its memory elsewhere, and another environment. */
static void another_process_makes_the_same_plan(void **state)
{
    (void)state;
    char *here, there[4096];
    size_t size, n, at = 0;
    FILE *out = open_memstream(&here, &size);
    print_plans(out);
    fclose(out);
    char command[300];
    snprintf(command, sizeof command, "env -i ANOTHER=1 /proc/%d/exe plans", (int)getpid());
    FILE *in = popen(command, "r");
    assert_non_null(in);
    while ((n = fread(there, 1, sizeof there, in)) > 0) {
        assert_true(at + n <= size);
        assert_memory_equal(there, here + at, n);
        at += n;
    }
    assert_int_equal(pclose(in), 0);
    assert_int_equal(at, size);
    free(here);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "plans") == 0) {
        print_plans(stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_hold_when_watched),
        cmocka_unit_test(any_values_do),
        cmocka_unit_test(what_is_planted_is_found),
        cmocka_unit_test(another_sequence_is_the_same_plan),
        cmocka_unit_test(another_process_makes_the_same_plan),
    };
    return cmocka_run_group_tests_name("graph_random", tests, NULL, NULL);
}
