/*
 * A streaming pipeline: a thread writes bytes into a host pipe, four kernels decode, filter, reduce and encode them at
 * the same time, and numbers come out of another pipe while the first ones still go in. `example-streaming
 * streaming.fk`; the result is compared with plain C.
 */
#include <fusiond/pipe.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 1 << 17, BLOCK = 64, BLOCKS = SAMPLES / BLOCK };

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
    const fusion_kernel_node node = {
        .module = m, .kernel = kernel, .dims = 1, .global = {1}, .n_args = n_args, .args = args};
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

int main(int argc, char **argv)
{
    static int32_t output[BLOCKS], wanted[BLOCKS];
    fusion_session *s;
    fusion_module *m;
    fusion_graph *g;
    fusion_exec *e;
    fusion_event event;
    fusion_pipe *in, *out;
    pthread_t writer;
    if (argc != 2) return fprintf(stderr, "usage: example-streaming streaming.fk\n"), 2;
    for (int i = 0; i < SAMPLES; i++) input[i] = (int8_t)(i * 37 % 251 - 125);
    check(fusion_connect(NULL, NULL, &s));
    check(fusion_module_load_file(s, argv[1], &m));
    check(fusion_pipe_open(m, "streaming input", NULL, &in));
    check(fusion_pipe_open(m, "streaming output", NULL, &out));
    check(fusion_graph_create(s, &g));
    add_stage(g, m, "decode", SAMPLES, 0, 1);
    add_stage(g, m, "filter", SAMPLES, 0, 1);
    add_stage(g, m, "reduce", SAMPLES, BLOCK, 2);
    add_stage(g, m, "encode", BLOCKS, 0, 1);
    check(fusion_graph_finalize(g, NULL, &e));
    check(fusion_exec_submit(e, NULL, 0, &event));
    if (pthread_create(&writer, NULL, write_input, in) != 0) return 1;
    check(fusion_pipe_read(out, output, BLOCKS, -1, NULL));
    pthread_join(writer, NULL);
    check(fusion_event_wait(s, event, -1, NULL));
    expected(wanted);
    for (int i = 0; i < BLOCKS; i++)
        if (output[i] != wanted[i]) return printf("block %d is %d, not %d\n", i, output[i], wanted[i]), 1;
    printf("%d samples became %d blocks, as in plain C\n", SAMPLES, BLOCKS);
    fusion_disconnect(s);
    return 0;
}
