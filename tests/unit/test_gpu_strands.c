/* Launches for a GPU that know nothing of each other go to several queues; all others keep their order in one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/executor/devices/gpu/places.h"
#include "daemon/executor/devices/gpu/strands.h"

enum { SLOTS = 8, MOST_LAUNCHES = 8 };

/* Each launch reads a slot and writes another. */
struct graph {
    struct program program;
    struct program_launch launches[MOST_LAUNCHES];
    struct program_param params[MOST_LAUNCHES][2];
    uint32_t order[MOST_LAUNCHES];
    struct gpu_used used[SLOTS];
    uint8_t queue[MOST_LAUNCHES];
};

static void add(struct graph *g, uint32_t reads, uint32_t writes, uint64_t items)
{
    uint32_t n = g->program.n_launches++;
    g->params[n][0] = (struct program_param){.kind = PROGRAM_PARAM_SLOT, .index = reads};
    g->params[n][1] = (struct program_param){.kind = PROGRAM_PARAM_SLOT, .index = writes, .writes = true};
    g->launches[n] =
        (struct program_launch){.range = {.dims = 1, .global = {items, 1, 1}}, .n_params = 2, .params = g->params[n]};
    g->order[n] = n;
    g->program.launches = g->launches;
    g->program.n_slots = SLOTS;
}

static uint32_t share_out(struct graph *g, uint32_t most)
{
    return gpu_share_out(&g->program, g->order, g->program.n_launches, g->used, most, g->queue);
}

/* Two chains, 0 to 2 and 3 to 5, one after the other. */
static void add_chains(struct graph *g)
{
    for (uint32_t i = 0; i < 6; i += 3) {
        add(g, i, i + 1, 100);
        add(g, i + 1, i + 2, 100);
    }
}

static void expect_chains(struct graph *g, uint32_t queues)
{
    assert_int_equal(share_out(g, 4), queues);
    assert_int_equal(g->queue[0], g->queue[1]);
    assert_int_equal(g->queue[2], g->queue[3]);
    assert_int_equal(g->queue[0] != g->queue[2], queues > 1);
}

static void chains(void **state)
{
    struct graph g = {0};
    (void)state;
    add_chains(&g);
    expect_chains(&g, 2);
    assert_int_equal(share_out(&g, 1), 1);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(g.queue[i], 0);
    assert_int_equal(share_out(&g, 2), 2);
    for (uint32_t place = 0; place < 6; place++) {
        uint8_t queue = g.queue[place < 3 ? 0 : 2];
        assert_true(gpu_queue_uses(&g.program, g.order, 4, g.queue, queue, place));
        assert_false(gpu_queue_uses(&g.program, g.order, 4, g.queue, !queue, place));
    }
}

/* What is read by both is no tie, but where it has to be moved: one of them would read it before it is there. */
static void shared_input(void **state)
{
    struct graph g = {0};
    (void)state;
    add_chains(&g);
    g.params[2][0].index = 0;
    expect_chains(&g, 2);
    g.used[0].in.bytes = 16;
    expect_chains(&g, 1);
    g.used[0].in.bytes = 0;
    g.used[0].back.bytes = 16;
    expect_chains(&g, 1);
}

static void ties(void **state)
{
    struct graph g = {0};
    (void)state;
    add_chains(&g);
    add(&g, 2, 5, 100);
    expect_chains(&g, 1);
}

static void pointers(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct graph g = {0};
        add_chains(&g);
        g.launches[i].anywhere = true;
        expect_chains(&g, 1);
    }
}

/* Without anything to wait for they run at the same time in one queue as well. */
static void lone_launches(void **state)
{
    struct graph g = {0};
    (void)state;
    for (uint32_t i = 0; i < 6; i += 2) add(&g, i, i + 1, 100);
    assert_int_equal(share_out(&g, 4), 1);
    g.used[1].back.bytes = g.used[3].back.bytes = 16;
    assert_int_equal(share_out(&g, 4), 3);
}

static void work(void **state)
{
    struct graph g = {0};
    (void)state;
    add(&g, 0, 1, 1000);
    add(&g, 1, 1, 1000);
    for (uint32_t i = 2; i < 8; i += 2) {
        add(&g, i, i + 1, 100);
        add(&g, i + 1, i + 1, 100);
    }
    assert_int_equal(share_out(&g, 2), 2);
    for (uint32_t i = 2; i < 8; i++) assert_true(g.queue[i] != g.queue[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains),   cmocka_unit_test(shared_input),  cmocka_unit_test(ties),
        cmocka_unit_test(pointers), cmocka_unit_test(lone_launches), cmocka_unit_test(work),
    };
    return cmocka_run_group_tests_name("gpu_strands", tests, NULL, NULL);
}
