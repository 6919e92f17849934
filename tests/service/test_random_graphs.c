/* Random graphs through the whole service, with graphs inside graphs, host tasks, copies of rows and of the client's
   own memory: fused, compiled and apart, interpreted and debugged leave the same behind. */
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

enum {
    ELEMENTS = 64,
    BUFFERS = 6,
    KEPT = 4,
    MOST_HOSTS = 64,
    MOST_COPIES = 64,
    MOST_DEPTH = 2
}; /* buffers from KEPT on are internal */

static struct service service;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

/* A graph in the making, and what it works on. */
struct scene {
    struct rng rng;
    fusion_session *session;
    fusion_module *module;
    fusion_buffer *buffers[BUFFERS];
    int32_t *memory[KEPT];
    int32_t own[1 + MOST_COPIES][ELEMENTS]; /* of this process alone: [0] is only read, each other row written by one
                                               copy, as nothing orders copies that meet there */
    uint32_t n_copies;
    int32_t *hosts[MOST_HOSTS]; /* what host tasks work on: its address must stay */
    uint32_t n_hosts;
};

static void host_task(void *data)
{
    int32_t *memory = *(int32_t **)data;
    for (int i = 0; i < ELEMENTS; i++) memory[i] = memory[i] * 3 + i;
}

static uint32_t below(struct scene *s, uint32_t n)
{
    return rng_below(&s->rng, n);
}

/* Where a kernel writes, no other argument of it points. n_buffers: what it may use: an inner graph may be fused by
   itself, and what is internal is lost outside then. */
static void add_kernel(struct scene *s, fusion_graph *graph, uint32_t n_buffers)
{
    static const char *const names[] = {"add", "multiply", "scale", "scale", "neighbour"};
    const char *name = names[below(s, 5)];
    uint32_t to = below(s, n_buffers), a = (to + 1 + below(s, n_buffers - 1)) % n_buffers,
             b = (to + 1 + below(s, n_buffers - 1)) % n_buffers, n = 0;
    fusion_arg args[3];
    args[n++] = fusion_arg_read(s->buffers[a]);
    if (name[0] == 'a' || name[0] == 'm') args[n++] = fusion_arg_read(s->buffers[b]);
    args[n++] = fusion_arg_write(s->buffers[to]);
    if (name[0] == 's') args[n++] = fusion_arg_i32((int32_t)below(s, 5) - 2);
    add_node(graph, s->module, name, rng_chance(&s->rng, 80) ? ELEMENTS : 40, args, n);
}

static void add_command(struct scene *s, fusion_graph *graph)
{
    uint32_t a = below(s, KEPT), b = (a + 1 + below(s, KEPT - 1)) % KEPT;
    fusion_memory from = {.buffer = s->buffers[a], .offset = 4 * below(s, 8)};
    fusion_memory to = {.buffer = s->buffers[b], .offset = 4 * below(s, 8)};
    int32_t pattern = (int32_t)below(s, 100);
    fusion_arg arg = fusion_arg_read_write(s->buffers[a]);
    switch (below(s, 6)) {
    case 0: expect_ok(fusion_graph_add_copy(graph, NULL, from, to, 32, NULL, 0, NULL)); break;
    case 1: expect_ok(fusion_graph_add_copy_2d(graph, NULL, from, 32, to, 48, 16, 4, NULL, 0, NULL)); break;
    case 2: expect_ok(fusion_graph_add_fill(graph, NULL, to, 64, &pattern, 4, NULL, 0, NULL)); break;
    case 3:
        if (s->n_copies == MOST_COPIES) break;
        expect_ok(fusion_graph_add_copy(graph, NULL, from, (fusion_memory){.host = s->own[++s->n_copies]}, 64, NULL, 0,
                                        NULL));
        break;
    case 4:
        expect_ok(fusion_graph_add_copy(graph, NULL, (fusion_memory){.host = s->own[0]}, to, 64, NULL, 0, NULL));
        break;
    default:
        if (s->n_hosts == MOST_HOSTS) break;
        s->hosts[s->n_hosts] = s->memory[a];
        expect_ok(fusion_graph_add_host_task(graph, NULL, &arg, 1, host_task, &s->hosts[s->n_hosts++], NULL, 0, NULL));
    }
}

/* commands, graphs: percent of the nodes. */
static void add_nodes(struct scene *s, fusion_graph *graph, uint32_t n, uint32_t commands, uint32_t graphs,
                      unsigned depth)
{
    for (uint32_t i = 0; i < n; i++) {
        if (depth < MOST_DEPTH && rng_chance(&s->rng, graphs)) {
            fusion_graph *inner;
            const fusion_finalize_options options = {.mode = rng_chance(&s->rng, 50) ? FUSION_ENABLE : FUSION_NONE};
            expect_ok(fusion_graph_create(s->session, &inner));
            add_nodes(s, inner, 1 + below(s, 4), commands, graphs, depth + 1);
            expect_ok(fusion_graph_add_graph(graph, NULL, inner, &options, NULL, 0, NULL));
            fusion_graph_destroy(inner);
        } else if (rng_chance(&s->rng, commands)) {
            add_command(s, graph);
        } else {
            add_kernel(s, graph, depth ? KEPT : BUFFERS);
        }
    }
}

struct outcome {
    int32_t memory[KEPT][ELEMENTS], own[1 + MOST_COPIES][ELEMENTS];
    uint32_t launches, internalized;
};

/* Builds the seed's graph anew, runs it twice, and keeps what is left behind. */
static void run(unsigned seed, const fusion_finalize_options *options, struct outcome *out)
{
    static struct scene s;
    fusion_graph *graph;
    fusion_exec *exec;
    s = (struct scene){.rng = {seed}, .session = service_connect(&service)};
    s.module = load_test_kernels(s.session);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        char name[4] = {'b', (char)('0' + i)};
        void *memory = NULL;
        if (i < KEPT) {
            s.buffers[i] = index_buffer(s.session, name, ELEMENTS, (int)i + 1, 0);
            expect_ok(fusion_buffer_map(s.buffers[i], &memory));
            s.memory[i] = memory;
        } else {
            expect_ok(
                fusion_buffer_create(s.session, name, FUSION_I32, ELEMENTS, FUSION_INTERNAL_MEMORY, &s.buffers[i]));
        }
    }
    for (int i = 0; i < ELEMENTS; i++) s.own[0][i] = i * 7;
    expect_ok(fusion_graph_create(s.session, &graph));
    /* What is internal is written before anything else. */
    for (uint32_t i = KEPT; i < BUFFERS; i++)
        add_node(graph, s.module, "add", ELEMENTS,
                 (const fusion_arg[]){fusion_arg_read(s.buffers[0]), fusion_arg_read(s.buffers[1]),
                                      fusion_arg_write(s.buffers[i])},
                 3);
    uint32_t n = 2 + below(&s, 14), commands = below(&s, 40), graphs = below(&s, 40);
    add_nodes(&s, graph, n, commands, graphs, 0);
    expect_ok(fusion_graph_finalize(graph, options, &exec));
    for (int k = 0; k < 2; k++) {
        fusion_event event;
        expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
        expect_ok(fusion_event_wait(s.session, event, -1, NULL));
    }
    for (int i = 0; i < KEPT; i++) memcpy(out->memory[i], s.memory[i], sizeof out->memory[i]);
    memcpy(out->own, s.own, sizeof out->own);
    out->launches = fusion_exec_report(exec)->launches;
    out->internalized = fusion_exec_report(exec)->n_internalized;
    fusion_disconnect(s.session);
}

static void expect_same(const struct outcome *a, const struct outcome *b, unsigned seed, const char *way)
{
    for (int i = 0; i < KEPT; i++)
        for (int k = 0; k < ELEMENTS; k++)
            if (a->memory[i][k] != b->memory[i][k])
                fail_msg("seed %u, %s: buffer b%d has %d at %d, not %d", seed, way, i, b->memory[i][k], k,
                         a->memory[i][k]);
    if (memcmp(a->own, b->own, sizeof a->own) != 0) fail_msg("seed %u, %s: the client's own memory", seed, way);
}

static void every_way_is_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *way;
        fusion_finalize_options options;
    } ways[] = {
        {"compiled", {.mode = FUSION_NONE}},
        {"fused", {.mode = FUSION_ENABLE}},
        {"fused, interpreted", {.mode = FUSION_ENABLE, .device = "reference"}},
        {"debugged", {.mode = FUSION_ENABLE, .debug = true}},
        {"apart, debugged", {.mode = FUSION_NONE, .debug = true}},
        {"on vulkan", {.mode = FUSION_NONE, .device = "vulkan"}},
        {"fused, on vulkan", {.mode = FUSION_ENABLE, .device = "vulkan"}},
    };
    static struct outcome wanted, found;
    fusion_session *session = service_connect(&service);
    bool has_vulkan = service_has_device(session, "vulkan");
    fusion_disconnect(session);
    uint32_t saved = 0, internalized = 0, kernels;
    for (unsigned seed = 0; seed < test_cases(12); seed++) {
        run(seed, &(fusion_finalize_options){.mode = FUSION_NONE, .device = "reference"}, &wanted);
        kernels = wanted.launches;
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            if (ways[i].options.device && strcmp(ways[i].options.device, "vulkan") == 0 && !has_vulkan) continue;
            run(seed, &ways[i].options, &found);
            expect_same(&wanted, &found, seed, ways[i].way);
            saved += kernels - found.launches;
            internalized += found.internalized;
        }
    }
    if (!has_vulkan) print_message("# not on device vulkan, which is absent\n");
    print_message("# %u launches saved, %u buffers internalized\n", saved, internalized);
    assert_true(saved > 0 && internalized > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_is_the_same),
    };
    return cmocka_run_group_tests_name("random_graphs", tests, start, stop);
}
