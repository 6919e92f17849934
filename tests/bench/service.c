/* What the service itself takes: finalizing a graph, and the way of a submission there and back. */
#include "tests/bench/measure.h"
#include "tests/bench/work.h"

enum { COLD_ROUNDS = 11, LATENCY_ROUNDS = 5001 };

static void make_buffers(fusion_session *s, size_t n, struct work_buffers *b)
{
    for (int i = 0; i < 3; i++) bench_check(fusion_buffer_create(s, NULL, FUSION_F32, n, 0, &b->in[i]));
    bench_check(fusion_buffer_create(s, NULL, FUSION_F32, n, 0, &b->out[0]));
}

static double finalize_ms(fusion_graph *g, fusion_exec **exec)
{
    double start = measure_now_ms();
    bench_check(fusion_graph_finalize(g, &(fusion_finalize_options){.mode = FUSION_REQUIRE}, exec));
    return measure_now_ms() - start;
}

static void bench_finalize(fusion_session *s, json_object *rows)
{
    double cold[COLD_ROUNDS], warm[COLD_ROUNDS];
    struct work_buffers b;
    make_buffers(s, 4096, &b);
    for (int i = 0; i < COLD_ROUNDS; i++) {
        fusion_exec *exec;
        fusion_graph *g = chain_graph(s, 4096, (int)(measure_now_ms() * 10) % 1000000 + i + 1, &b);
        cold[i] = finalize_ms(g, &exec);
        warm[i] = finalize_ms(g, &exec);
    }
    measure_figure("finalize, 4 kernels, cold", measure_median(cold, COLD_ROUNDS), rows);
    measure_figure("finalize, 4 kernels, warm", measure_median(warm, COLD_ROUNDS), rows);
}

static void bench_latency(fusion_session *s, json_object *rows)
{
    static double times[LATENCY_ROUNDS];
    struct work_buffers b;
    fusion_exec *exec;
    make_buffers(s, 64, &b);
    finalize_ms(chain_graph(s, 64, 0, &b), &exec);
    for (int i = 0; i < LATENCY_ROUNDS; i++) {
        fusion_event event;
        double start = measure_now_ms();
        bench_check(fusion_exec_submit(exec, NULL, 0, &event));
        bench_check(fusion_event_wait(s, event, -1, NULL));
        times[i] = measure_now_ms() - start;
    }
    measure_figure("submit and wait, 64 elements", measure_median(times, LATENCY_ROUNDS), rows);
}

void bench_service(fusion_session *s, json_object *rows)
{
    bench_finalize(s, rows);
    bench_latency(s, rows);
}
