/*
 * The second program of sycl_ext_oneapi_graph_fusion in fusiond's API: two kernels on USM pointers, built
 * explicitly with depends_on, with copies before and after that a valid order keeps out of the fusion.
 *
 * usm KERNELS.fk [none|enable|require]
 */
#include "check.h"

enum { SIZE = 512 };
static const size_t bytes = SIZE * sizeof(int);

static int *allocate(fusion_session *session, fusion_usm_kind kind)
{
    void *pointer;
    check(fusion_malloc(session, kind, bytes, &pointer));
    return pointer;
}

static fusion_node copy(fusion_graph *graph, const char *name, int *from, int *to, const fusion_node *after, uint32_t n)
{
    fusion_node node;
    check(fusion_graph_add_copy(graph, name, (fusion_memory){.pointer = from}, (fusion_memory){.pointer = to}, bytes,
                                after, n, &node));
    return node;
}

static fusion_node kernel(fusion_graph *graph, fusion_module *module, const char *name, const fusion_arg *args,
                          const fusion_node *after, uint32_t n)
{
    fusion_node node;
    check(fusion_graph_add_kernel(graph,
                                  &(fusion_kernel_node){FUSION_SIZED(fusion_kernel_node), .module = module,
                                                        .kernel = name, .dims = 1, .global = {SIZE}, .args = args,
                                                        .n_args = 3, .depends_on = after, .n_depends_on = n},
                                  &node));
    return node;
}

int main(int argc, char **argv)
{
    if (argc < 2) return fprintf(stderr, "usage: usm KERNELS.fk [none|enable|require]\n"), 2;
    fusion_session *session;
    fusion_module *module;
    fusion_graph *graph;
    check(fusion_connect(NULL, NULL, &session));
    check(fusion_module_load_file(session, argv[1], &module));
    check(fusion_graph_create(session, &graph));

    int *in1 = allocate(session, FUSION_USM_HOST), *in2 = allocate(session, FUSION_USM_HOST),
        *in3 = allocate(session, FUSION_USM_HOST);
    int *out = allocate(session, FUSION_USM_HOST);
    int *d_in1 = allocate(session, FUSION_USM_DEVICE), *d_in2 = allocate(session, FUSION_USM_DEVICE);
    int *d_in3 = allocate(session, FUSION_USM_DEVICE), *d_out = allocate(session, FUSION_USM_DEVICE);
    int *d_tmp = allocate(session, FUSION_USM_DEVICE);
    for (int i = 0; i < SIZE; i++) {
        in1[i] = i;
        in2[i] = 2 * i;
        in3[i] = 3 * i;
    }

    /* The temporary as an annotated pointer, once as the output of a kernel and once as an input. */
    const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
    fusion_arg tmp_write = fusion_arg_pointer(d_tmp, FUSION_ACCESS_WRITE, internal);
    fusion_arg tmp_read = fusion_arg_pointer(d_tmp, FUSION_ACCESS_READ, internal);
    fusion_arg read1 = fusion_arg_pointer(d_in1, FUSION_ACCESS_READ, 0),
               read2 = fusion_arg_pointer(d_in2, FUSION_ACCESS_READ, 0);
    fusion_arg read3 = fusion_arg_pointer(d_in3, FUSION_ACCESS_READ, 0),
               write = fusion_arg_pointer(d_out, FUSION_ACCESS_WRITE, 0);

    fusion_node copy_in1 = copy(graph, "copy_in1", in1, d_in1, NULL, 0);
    fusion_node copy_in2 = copy(graph, "copy_in2", in2, d_in2, NULL, 0);
    fusion_node one =
        kernel(graph, module, "add", (fusion_arg[]){read1, read2, tmp_write}, (fusion_node[]){copy_in1, copy_in2}, 2);
    fusion_node copy_in3 = copy(graph, "copy_in3", in3, d_in3, NULL, 0);
    fusion_node two =
        kernel(graph, module, "multiply", (fusion_arg[]){tmp_read, read3, write}, (fusion_node[]){copy_in3, one}, 2);
    copy(graph, "copy_out", d_out, out, &two, 1);

    fusion_exec *exec;
    check(fusion_graph_finalize(
        graph, &(fusion_finalize_options){FUSION_SIZED(fusion_finalize_options), .mode = mode_of(argc, argv)}, &exec));
    fusion_event event;
    check(fusion_exec_submit(exec, NULL, 0, &event));
    check(fusion_event_wait(session, event, -1, NULL));
    print_report(exec);

    int wrong = 0;
    for (int i = 0; i < SIZE; i++) wrong += out[i] != (i + 2 * i) * (3 * i);
    printf("wrong values: %d of %d\n", wrong, SIZE);
    fusion_disconnect(session);
    return wrong != 0;
}
