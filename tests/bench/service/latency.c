/* Finalizing a graph, and the way of a submission there and back. */
#include <stdio.h>

#include "tests/bench/measure.h"
#include "tests/bench/service/service.h"

enum { COLD_ROUNDS = 21, WARM_ROUNDS = 501, LATENCY_ROUNDS = 20001, IN_FLIGHT = 1000, RATE_ROUNDS = 200 * IN_FLIGHT };
enum { SMALL = 64, MIDDLE = 4096, FIRST = 1 << 16 };

fusion_graph *service_graph(fusion_session *s, size_t n, int salt)
{
    struct work_buffers b;
    for (int i = 0; i < 3; i++) bench_check(fusion_buffer_create(s, NULL, FUSION_F32, n, 0, &b.in[i]));
    bench_check(fusion_buffer_create(s, NULL, FUSION_F32, n, 0, &b.out[0]));
    return chain_graph(s, n, salt, &b);
}

const fusion_finalize_options service_options = {.mode = FUSION_REQUIRE, .tier = FUSION_TIER_COMPILED};

static fusion_exec *finalize(fusion_graph *g, const fusion_finalize_options *options)
{
    fusion_exec *exec;
    bench_check(fusion_graph_finalize(g, options, &exec));
    return exec;
}

fusion_exec *service_finalize(fusion_graph *g)
{
    return finalize(g, &service_options);
}

static void submit_and_wait(fusion_session *s, fusion_exec *exec)
{
    fusion_event event;
    bench_check(fusion_exec_submit(exec, NULL, 0, &event));
    bench_check(fusion_event_wait(s, event, -1, NULL));
}

/* Another one each time, and in each run of the benchmark. */
static int fresh_salt(void)
{
    static int used;
    return (int)(measure_now_ms() * 10) % 1000000 + ++used;
}

/* A graph that nobody has seen, until its first results are there: code or not. */
static void bench_first_result(fusion_session *s, json_object *rows)
{
    const fusion_finalize_options options = {.mode = FUSION_REQUIRE};
    double times[COLD_ROUNDS];
    for (int i = 0; i < COLD_ROUNDS; i++) {
        fusion_graph *g = service_graph(s, FIRST, fresh_salt());
        double start = measure_now_ms();
        fusion_exec *exec = finalize(g, &options);
        submit_and_wait(s, exec);
        times[i] = measure_now_ms() - start;
        fusion_exec_destroy(exec);
        fusion_graph_destroy(g);
    }
    measure_figure("first result of a cold graph, 2^16 elements, 95 %", measure_percentile(times, COLD_ROUNDS, 0.95),
                   "ms", rows);
}

void bench_finalize(fusion_session *s, json_object *rows)
{
    double cold[COLD_ROUNDS];
    static double warm[WARM_ROUNDS];
    fusion_graph *g = NULL;
    for (int i = 0; i < COLD_ROUNDS; i++) {
        if (g) fusion_graph_destroy(g);
        g = service_graph(s, MIDDLE, fresh_salt());
        double start = measure_now_ms();
        fusion_exec *exec = service_finalize(g);
        cold[i] = measure_now_ms() - start;
        fusion_exec_destroy(exec);
    }
    for (int i = 0; i < WARM_ROUNDS; i++) {
        double start = measure_now_ms();
        fusion_exec *exec = service_finalize(g);
        warm[i] = measure_now_ms() - start;
        fusion_exec_destroy(exec);
    }
    fusion_graph_destroy(g);
    measure_figure("finalize, 4 kernels, cold", measure_median(cold, COLD_ROUNDS), "ms", rows);
    measure_figure("finalize, 4 kernels, from the memory cache", measure_median(warm, WARM_ROUNDS), "ms", rows);
    bench_first_result(s, rows);
}

/* So many at a time, all along: the next is submitted when the oldest has come back. */
static double submissions_per_second(fusion_session *s, fusion_exec *exec)
{
    static fusion_event events[IN_FLIGHT];
    double start = measure_now_ms();
    for (int i = 0; i < RATE_ROUNDS + IN_FLIGHT; i++) {
        if (i >= IN_FLIGHT) bench_check(fusion_event_wait(s, events[i % IN_FLIGHT], -1, NULL));
        if (i < RATE_ROUNDS) bench_check(fusion_exec_submit(exec, NULL, 0, &events[i % IN_FLIGHT]));
    }
    return RATE_ROUNDS / (measure_now_ms() - start) * 1e3;
}

void bench_submit(fusion_session *s, json_object *rows)
{
    static double times[LATENCY_ROUNDS];
    fusion_graph *g = service_graph(s, SMALL, 0);
    fusion_exec *exec = service_finalize(g);
    for (int i = 0; i < LATENCY_ROUNDS; i++) {
        double start = measure_now_ms();
        submit_and_wait(s, exec);
        times[i] = measure_now_ms() - start;
    }
    measure_figure("submit and wait, 64 elements, median", measure_median(times, LATENCY_ROUNDS), "ms", rows);
    measure_figure("submit and wait, 64 elements, 99 %", measure_percentile(times, LATENCY_ROUNDS, 0.99), "ms", rows);
    measure_figure("submissions with 1,000 in flight, 64 elements", submissions_per_second(s, exec), "a second", rows);
    fusion_exec_destroy(exec);
    fusion_graph_destroy(g);
}
