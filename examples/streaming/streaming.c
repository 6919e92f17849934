/*
 * A streaming pipeline: a thread writes bytes into a host pipe, four kernels decode, filter, reduce and encode them,
 * and numbers come out of another pipe while the first ones still go in. First the kernels run at the same time, with
 * pipes between them; then they are one, in which packets are values. `example-streaming streaming.fk`; the results are
 * compared with plain C.
 */
#include <fusiond/finalize.h>
#include <fusiond/pipe.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 1 << 17, BLOCK = 64, BLOCKS = SAMPLES / BLOCK, RUNS = 3 };

static int8_t input[SAMPLES];

static void check(fusion_status status)
{
    if (status == FUSION_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", fusion_last_error()->object, fusion_last_error()->reason);
    exit(1);
}

static void add_stage(fusion_graph *g, fusion_module *m, const char *kernel, int a, int b, uint32_t n_args)
{
    const fusion_arg args[] = {fusion_arg_i32(a), fusion_arg_i32(b)};
    const fusion_kernel_node node = {FUSION_SIZED(fusion_kernel_node),
                                     .module = m,
                                     .kernel = kernel,
                                     .dims = 1,
                                     .global = {1},
                                     .n_args = n_args,
                                     .args = args};
    check(fusion_graph_add_kernel(g, &node, NULL));
}

static void *write_input(void *pipe)
{
    check(fusion_pipe_write(pipe, input, SAMPLES, -1, NULL));
    return NULL;
}

/* What the kernels do, in plain C. */
static void expected(int32_t *out)
{
    int32_t sample = 0, a = 0, b = 0, last = 0;
    for (int i = 0; i < BLOCKS; i++) {
        int32_t sum = 0;
        for (int k = 0; k < BLOCK; k++) {
            sample += input[i * BLOCK + k];
            sum += a + 2 * b + sample;
            a = b;
            b = sample;
        }
        out[i] = sum - last;
        last = sum;
    }
}

/* The four kernels, one after another or as one. Nobody puts numbers in only when others have come out, so that no room
   between the kernels is needed: that is what require_fusion says here. */
static fusion_exec *make(fusion_session *s, fusion_module *m, fusion_mode mode)
{
    const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .mode = mode,
                                             .tier = FUSION_TIER_COMPILED};
    fusion_graph *g;
    fusion_exec *e;
    check(fusion_graph_create(s, &g));
    add_stage(g, m, "decode", SAMPLES, 0, 1);
    add_stage(g, m, "filter", SAMPLES, 0, 1);
    add_stage(g, m, "reduce", SAMPLES, BLOCK, 2);
    add_stage(g, m, "encode", BLOCKS, 0, 1);
    check(fusion_graph_finalize(g, &options, &e));
    fusion_graph_destroy(g);
    return e;
}

/* Pipes whose packets became values. */
static uint32_t pipes_in_registers(const fusion_report *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_remarks; i++) n += strcmp(r->remarks[i].code, "pipe_in_registers") == 0;
    return n;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One run: the milliseconds until all numbers are there. */
static double run(fusion_session *s, fusion_exec *e, fusion_pipe *in, fusion_pipe *out, int32_t *output)
{
    fusion_event event;
    pthread_t writer;
    double began = now();
    check(fusion_exec_submit(e, NULL, 0, &event));
    if (pthread_create(&writer, NULL, write_input, in) != 0) exit(1);
    check(fusion_pipe_read(out, output, BLOCKS, -1, NULL));
    pthread_join(writer, NULL);
    check(fusion_event_wait(s, event, -1, NULL));
    return (now() - began) * 1e3;
}

int main(int argc, char **argv)
{
    static int32_t output[BLOCKS], wanted[BLOCKS];
    fusion_session *s;
    fusion_module *m;
    fusion_pipe *in, *out;
    double best[2] = {1e9, 1e9};
    if (argc != 2) return fprintf(stderr, "usage: example-streaming streaming.fk\n"), 2;
    for (int i = 0; i < SAMPLES; i++) input[i] = (int8_t)(i * 37 % 251 - 125);
    expected(wanted);
    check(fusion_connect(NULL, NULL, &s));
    check(fusion_module_load_file(s, argv[1], &m));
    check(fusion_pipe_open(m, "streaming input", NULL, &in));
    check(fusion_pipe_open(m, "streaming output", NULL, &out));
    fusion_exec *const execs[] = {make(s, m, FUSION_NONE), make(s, m, FUSION_REQUIRE)};
    const fusion_report *apart = fusion_exec_report(execs[0]), *one = fusion_exec_report(execs[1]);
    if (apart->launches != 4 || one->launches != 1 || pipes_in_registers(one) != 3)
        return printf("%u launches, and %u with %u pipes in registers\n", apart->launches, one->launches,
                      pipes_in_registers(one)),
               1;
    for (int k = 0; k < 2 * RUNS; k++) {
        double ms = run(s, execs[k % 2], in, out, output);
        if (ms < best[k % 2]) best[k % 2] = ms;
        for (int i = 0; i < BLOCKS; i++)
            if (output[i] != wanted[i]) return printf("block %d is %d, not %d\n", i, output[i], wanted[i]), 1;
    }
    printf("%d samples became %d blocks, as in plain C: four kernels %.1f ms, as one %.1f ms\n", SAMPLES, BLOCKS,
           best[0], best[1]);
    fusion_disconnect(s);
    return 0;
}
