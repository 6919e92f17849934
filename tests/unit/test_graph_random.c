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

#include "ir/arena.h"
#include "ir/strbuf.h"
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
        struct fuser_plan *plan = check_planned(g);
        struct graph_memory m = graph_memory_new(&g->graph, seed);
        char why[1500];
        if (!run_watched(&g->graph, plan, knobs.barriers, &m, why, sizeof why))
            fail_msg("seed %u: %s\n%s", seed, why, random_graph_text(g));
        graph_memory_free(&m);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
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
    struct fuser_plan *plan = check_planned(g);
    bool together = launch_of(plan, p->first) == launch_of(plan, p->second);
    char why[1500];
    if (expected) assert_true(together);
    for (int wrong = 0; wrong < 2; wrong++) {
        struct graph_memory a = graph_memory_new(&g->graph, seed), b = graph_memory_new(&g->graph, seed);
        random_plant_fill(p, &a, wrong);
        random_plant_fill(p, &b, wrong);
        bool found = !run_watched(&g->graph, plan, g->options.insert_barriers, &a, why, sizeof why);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_hold_when_watched),
        cmocka_unit_test(what_is_planted_is_found),
    };
    return cmocka_run_group_tests_name("graph_random", tests, NULL, NULL);
}
