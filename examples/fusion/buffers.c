/*
 * The first program of sycl_ext_oneapi_graph_fusion in fusiond's API: four kernels on buffers, recorded
 * over a queue, fused into one, the three temporaries kept in registers.
 *
 * buffers KERNELS.fk [none|enable|require]
 */
#include "check.h"

enum { SIZE = 512 };

static fusion_buffer *input(fusion_session *session, const char *name, int factor)
{
    fusion_buffer *buffer;
    void *memory;
    check(fusion_buffer_create(session, name, FUSION_I32, SIZE, 0, &buffer));
    check(fusion_buffer_map(buffer, &memory));
    for (int i = 0; i < SIZE; i++) ((int *)memory)[i] = factor * i;
    return buffer;
}

static void submit(fusion_queue *queue, fusion_module *module, const char *kernel, const fusion_arg *args, uint32_t n)
{
    check(
        fusion_queue_submit(queue,
                            &(fusion_kernel_node){FUSION_SIZED(fusion_kernel_node), .module = module, .kernel = kernel,
                                                  .dims = 1, .global = {SIZE}, .args = args, .n_args = n},
                            NULL));
}

int main(int argc, char **argv)
{
    if (argc < 2) return fprintf(stderr, "usage: buffers KERNELS.fk [none|enable|require]\n"), 2;
    const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
    fusion_session *session;
    fusion_module *module;
    fusion_queue *queue;
    fusion_graph *graph;
    check(fusion_connect(NULL, NULL, &session));
    check(fusion_module_load_file(session, argv[1], &module));
    check(fusion_queue_create(session, &queue));
    check(fusion_graph_create(session, &graph));

    fusion_buffer *in1 = input(session, "in1", 1), *in2 = input(session, "in2", 2), *in3 = input(session, "in3", 3);
    fusion_buffer *tmp1, *tmp2, *tmp3, *out;
    check(fusion_buffer_create(session, "tmp1", FUSION_I32, SIZE, 0, &tmp1));
    /* Internalization specified on the buffer ... */
    check(fusion_buffer_create(session, "tmp2", FUSION_I32, SIZE, internal, &tmp2));
    check(fusion_buffer_create(session, "tmp3", FUSION_I32, SIZE, internal, &tmp3));
    check(fusion_buffer_create(session, "out", FUSION_I32, SIZE, 0, &out));
    /* ... and on each accessor. */
    fusion_arg write1 = fusion_arg_write(tmp1), read1 = fusion_arg_read(tmp1);
    write1.properties = read1.properties = internal;

    check(fusion_graph_begin_recording(graph, queue));
    submit(queue, module, "add", (fusion_arg[]){fusion_arg_read(in1), fusion_arg_read(in2), write1}, 3);
    submit(queue, module, "multiply", (fusion_arg[]){read1, fusion_arg_read(in3), fusion_arg_write(tmp2)}, 3);
    submit(queue, module, "scale", (fusion_arg[]){read1, fusion_arg_write(tmp3), fusion_arg_i32(5)}, 3);
    submit(queue, module, "add", (fusion_arg[]){fusion_arg_read(tmp2), fusion_arg_read(tmp3), fusion_arg_write(out)},
           3);
    check(fusion_graph_end_recording(graph));

    fusion_exec *exec;
    check(fusion_graph_finalize(
        graph, &(fusion_finalize_options){FUSION_SIZED(fusion_finalize_options), .mode = mode_of(argc, argv)}, &exec));
    fusion_event event;
    check(fusion_exec_submit(exec, NULL, 0, &event));
    check(fusion_event_wait(session, event, -1, NULL));
    print_report(exec);
    printf("memory behind temporaries: %d\n",
           fusion_buffer_has_memory(tmp1) + fusion_buffer_has_memory(tmp2) + fusion_buffer_has_memory(tmp3));

    void *memory;
    check(fusion_buffer_map(out, &memory));
    int wrong = 0;
    for (int i = 0; i < SIZE; i++) {
        int t1 = i + 2 * i;
        wrong += ((int *)memory)[i] != t1 * (3 * i) + t1 * 5;
    }
    printf("wrong values: %d of %d\n", wrong, SIZE);
    fusion_disconnect(session);
    return wrong != 0;
}
