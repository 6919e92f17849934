/* Time loops: a graph submitted many times with one call, beside as many submissions, in turns. A 5-point Jacobi step
   from a to b and one back, in OpenCL C: bench_rounds [SIDE...] prints both times of a round and their ratio. */
#include <fusiond/fusiond.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEASURED = 15, COUNT = 16 };

static const char source[] = "kernel void jacobi(global const float *a, global float *b, int n)\n"
                             "{\n"
                             "    int x = get_global_id(0), y = get_global_id(1), i = y * n + x;\n"
                             "    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)\n"
                             "        b[i] = 0.2f * (a[i] + a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);\n"
                             "    else\n"
                             "        b[i] = a[i];\n"
                             "}\n";

static void check(fusion_status status)
{
    if (status == FUSION_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", fusion_last_error()->object, fusion_last_error()->reason);
    exit(1);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

struct loop {
    fusion_session *session;
    fusion_buffer *a, *b;
    fusion_exec *exec;
    uint64_t side;
};

static void add_step(const struct loop *l, fusion_graph *graph, fusion_module *module, fusion_buffer *from,
                     fusion_buffer *to)
{
    const fusion_arg args[] = {fusion_arg_read(from), fusion_arg_write(to), fusion_arg_i32((int)l->side)};
    check(fusion_graph_add_kernel(graph,
                                  &(fusion_kernel_node){FUSION_SIZED(fusion_kernel_node), .module = module,
                                                        .kernel = "jacobi", .dims = 2, .global = {l->side, l->side},
                                                        .n_args = 3, .args = args},
                                  NULL));
}

static void fill(const struct loop *l)
{
    float *memory;
    check(fusion_buffer_map(l->a, (void **)&memory));
    for (uint64_t i = 0; i < l->side * l->side; i++) memory[i] = (float)(i * 2654435761u % 1000);
}

static void make(struct loop *l, fusion_module *module)
{
    fusion_graph *graph;
    const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .mode = FUSION_ENABLE,
                                             .tier = FUSION_TIER_COMPILED};
    check(fusion_buffer_create(l->session, NULL, FUSION_F32, l->side * l->side, 0, &l->a));
    check(fusion_buffer_create(l->session, NULL, FUSION_F32, l->side * l->side, 0, &l->b));
    check(fusion_graph_create(l->session, &graph));
    add_step(l, graph, module, l->a, l->b);
    add_step(l, graph, module, l->b, l->a);
    check(fusion_graph_finalize(graph, &options, &l->exec));
    fusion_graph_destroy(graph);
}

/* Milliseconds of a round. */
static double run(const struct loop *l, bool together)
{
    fusion_event event = 0;
    double start = now_ms();
    if (together) check(fusion_exec_submit_times(l->exec, COUNT, NULL, 0, NULL, &event));
    for (int i = 0; i < COUNT && !together; i++) check(fusion_exec_submit(l->exec, NULL, 0, &event));
    check(fusion_event_wait(l->session, event, -1, NULL));
    return (now_ms() - start) / COUNT;
}

static bool agree(const struct loop *l)
{
    const size_t bytes = fusion_buffer_bytes(l->a);
    void *memory, *kept = malloc(bytes);
    if (!kept) return false;
    fill(l);
    run(l, false);
    check(fusion_buffer_map(l->a, &memory));
    memcpy(kept, memory, bytes);
    fill(l);
    run(l, true);
    check(fusion_buffer_map(l->a, &memory));
    bool same = memcmp(kept, memory, bytes) == 0;
    free(kept);
    return same;
}

static void measure(fusion_session *session, fusion_module *module, uint64_t side)
{
    struct loop l = {.session = session, .side = side};
    double alone = INFINITY, together = INFINITY; /* the best: what else the machine does is in all others */
    uint32_t rounds;
    make(&l, module);
    check(fusion_exec_rounds(l.exec, -1, &rounds, NULL));
    bool same = agree(&l);
    for (int i = 0; i < MEASURED; i++) {
        alone = fmin(alone, run(&l, false));
        together = fmin(together, run(&l, true));
    }
    printf("jacobi, %llu x %llu, two steps: %.2f ms a submission, %.2f ms a round of %d, %u together: %.2f times as "
           "fast, %s\n",
           (unsigned long long)side, (unsigned long long)side, alone, together, COUNT, rounds, alone / together,
           same ? "the same bits" : "OTHER BITS");
    fusion_exec_destroy(l.exec);
    fusion_buffer_destroy(l.a);
    fusion_buffer_destroy(l.b);
    if (!same) exit(1);
}

int main(int argc, char **argv)
{
    static char *const usual[] = {"512", "1024", "2048", "4096"};
    fusion_session *session;
    fusion_module *module;
    check(fusion_connect(NULL, &(fusion_connect_options){FUSION_SIZED(fusion_connect_options), .time_limit_ms = 600000},
                         &session));
    check(fusion_module_load(session, "jacobi.cl", source, sizeof source - 1, &module));
    for (int i = 0; i < (argc > 1 ? argc - 1 : 4); i++)
        measure(session, module, strtoull(argc > 1 ? argv[i + 1] : usual[i], NULL, 10));
    fusion_disconnect(session);
    return 0;
}
