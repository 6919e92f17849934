/* Assertions on plans. */
#include "tests/support/plan_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/strbuf.h"
#include "tests/support/plan_run.h"

/* Each node has its place in the order, and each kernel that was not left out is in one launch. */
static void check_nodes(const struct test_graph *g, const struct fuser_plan *plan)
{
    bool *seen = calloc(g->graph.n_nodes + 1, sizeof *seen);
    for (uint32_t i = 0; i < plan->n_launches; i++)
        for (uint32_t k = 0; k < plan->launches[i].n_nodes; k++) {
            uint32_t node = plan->launches[i].nodes[k];
            assert_true(node < g->graph.n_nodes && !seen[node]);
            seen[node] = true;
        }
    memset(seen, 0, g->graph.n_nodes);
    assert_int_equal(plan->n_order, g->graph.n_nodes);
    for (uint32_t i = 0; i < plan->n_order; i++) {
        assert_true(plan->order[i] < g->graph.n_nodes && !seen[plan->order[i]]);
        seen[plan->order[i]] = true;
    }
    free(seen);
}

struct fuser_plan *check_planned(const struct test_graph *g)
{
    struct error error;
    struct fuser_plan *plan = fuser_plan_new(&g->graph, &g->options, &error);
    if (!plan) fail_msg("%d: %s: %s", (int)error.code, error.object, error.reason);
    check_nodes(g, plan);
    return plan;
}

void check_fails(const struct test_graph *g, enum fuser_status status, const char *object, const char *reason)
{
    struct error error;
    struct fuser_plan *plan = fuser_plan_new(&g->graph, &g->options, &error);
    if (plan) fail_msg("planned, though %s", reason);
    if (error.code != (int)status || !strstr(error.object, object) || !strstr(error.reason, reason))
        fail_msg("expected %d: %s: %s\n     got %d: %s: %s", (int)status, object, reason, (int)error.code, error.object,
                 error.reason);
}

void check_launches(const struct test_graph *g, const struct fuser_plan *plan, const char *launches)
{
    struct strbuf s = {0};
    for (uint32_t i = 0; i < plan->n_launches; i++)
        for (uint32_t k = 0; k < plan->launches[i].n_nodes; k++)
            strbuf_printf(&s, "%s%s", k ? " " : i ? "|" : "", g->graph.nodes[plan->launches[i].nodes[k]].name);
    char *text = strbuf_take(&s);
    for (uint32_t i = 0; i < plan->n_remarks && strcmp(text, launches) != 0; i++)
        print_message("# %s: %s\n", plan->remarks[i].code, plan->remarks[i].text);
    assert_string_equal(text, launches);
    free(text);
}

void check_internalized(const struct test_graph *g, const struct fuser_plan *plan, const char *buffers)
{
    struct strbuf s = {0};
    for (uint32_t i = 0; i < g->graph.n_buffers; i++)
        if (plan->storage[i] != FUSER_STORAGE_MEMORY)
            strbuf_printf(&s, "%s%s", s.size ? " " : "", g->graph.buffers[i].name);
    char *text = strbuf_take(&s);
    for (uint32_t i = 0; i < plan->n_remarks && strcmp(text, buffers) != 0; i++)
        print_message("# %s: %s\n", plan->remarks[i].code, plan->remarks[i].text);
    assert_string_equal(text, buffers);
    free(text);
}

void check_remark(const struct fuser_plan *plan, const char *code, const char *node, const char *buffer,
                  const char *text)
{
    for (uint32_t i = 0; i < plan->n_remarks; i++) {
        const struct fuser_remark *r = &plan->remarks[i];
        if (strcmp(r->code, code) == 0 && (!*node || strcmp(r->node, node) == 0) &&
            (!*buffer || strcmp(r->buffer, buffer) == 0) && strstr(r->text, text))
            return;
    }
    for (uint32_t i = 0; i < plan->n_remarks; i++)
        print_message("# %s [%s] [%s]: %s\n", plan->remarks[i].code, plan->remarks[i].node, plan->remarks[i].buffer,
                      plan->remarks[i].text);
    fail_msg("no remark %s [%s] [%s]: %s", code, node, buffer, text);
}

void check_no_remark(const struct fuser_plan *plan, const char *code)
{
    for (uint32_t i = 0; i < plan->n_remarks; i++)
        if (strcmp(plan->remarks[i].code, code) == 0) fail_msg("remark %s: %s", code, plan->remarks[i].text);
}

static void check_memories(const struct test_graph *g, const struct fuser_plan *plan, struct graph_memory a,
                           struct graph_memory b)
{
    char why[600];
    if (!run_graph(&g->graph, &a, why, sizeof why) || !run_plan(&g->graph, plan, &b, why, sizeof why) ||
        !same_memory(plan, &a, &b, why, sizeof why))
        fail_msg("%s", why);
    graph_memory_free(&a);
    graph_memory_free(&b);
}

void check_same(const struct test_graph *g, const struct fuser_plan *plan)
{
    check_memories(g, plan, graph_memory_new(&g->graph, 1), graph_memory_new(&g->graph, 1));
}

void check_same_with(const struct test_graph *g, const struct fuser_plan *plan, const int64_t *numbers)
{
    struct graph_memory a = graph_memory_new(&g->graph, 1), b = graph_memory_new(&g->graph, 1);
    for (uint32_t i = 0; i < g->graph.n_values; i++) {
        graph_memory_set(&a, i, numbers[i]);
        graph_memory_set(&b, i, numbers[i]);
    }
    check_memories(g, plan, a, b);
}
