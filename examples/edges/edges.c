/* edges KERNELS.cl WIDTH HEIGHT < PICTURE > EDGES: the edges of a picture, 4 bytes a pixel in, one out. */
#include <fusiond/fusiond.h>
#include <stdio.h>
#include <stdlib.h>

static fusion_session *session;
static fusion_module *kernels;

static void check(fusion_status status)
{
    const fusion_error *error = fusion_last_error();
    if (status == FUSION_SUCCESS) return;
    fprintf(stderr, "%s: %s: %s\n", fusion_status_name(status), error->object, error->reason);
    exit(1);
}

static fusion_buffer *buffer(const char *name, fusion_type type, uint64_t count)
{
    fusion_buffer *b;
    check(fusion_buffer_create(session, name, type, count, 0, &b));
    return b;
}

/* A kernel over all pixels. */
static void add(fusion_graph *graph, const char *kernel, int width, int height, const fusion_arg *args, uint32_t n_args)
{
    const fusion_kernel_node node = {FUSION_SIZED(fusion_kernel_node),
                                     .module = kernels,
                                     .kernel = kernel,
                                     .dims = 2,
                                     .global = {(uint64_t)width, (uint64_t)height},
                                     .n_args = n_args,
                                     .args = args};
    check(fusion_graph_add_kernel(graph, &node, NULL));
}

int main(int argc, char **argv)
{
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event done;
    void *in;
    const void *out;
    int width = argc == 4 ? atoi(argv[2]) : 0, height = argc == 4 ? atoi(argv[3]) : 0;
    if (width <= 0 || height <= 0) return fprintf(stderr, "usage: edges KERNELS.cl WIDTH HEIGHT < IN > OUT\n"), 2;
    size_t pixels = (size_t)width * (size_t)height;
    const fusion_arg w = fusion_arg_i32(width), h = fusion_arg_i32(height);

    check(fusion_connect(NULL, NULL, &session));
    check(fusion_module_load_file(session, argv[1], &kernels));
    fusion_buffer *photo = buffer("photo", FUSION_U8, 4 * pixels), *light = buffer("light", FUSION_F32, pixels),
                  *strong = buffer("strong", FUSION_F32, pixels), *edges = buffer("edges", FUSION_U8, pixels);

    check(fusion_graph_create(session, &graph));
    add(graph, "gray", width, height, (fusion_arg[]){fusion_arg_read(photo), fusion_arg_write(light), w, h}, 4);
    add(graph, "contrast", width, height,
        (fusion_arg[]){fusion_arg_read(light), fusion_arg_write(strong), fusion_arg_f32(1.5f), w, h}, 5);
    add(graph, "sobel", width, height, (fusion_arg[]){fusion_arg_read(strong), fusion_arg_write(edges), w, h}, 4);
    check(fusion_graph_set_outputs(graph, (fusion_arg[]){fusion_arg_read(edges)}, 1));
    const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .mode = FUSION_ENABLE};
    check(fusion_graph_finalize(graph, &options, &exec));

    check(fusion_buffer_map(photo, &in));
    if (fread(in, 4, pixels, stdin) != pixels) return fprintf(stderr, "the picture ends early\n"), 1;
    check(fusion_exec_submit(exec, NULL, 0, &done));
    check(fusion_event_wait(session, done, -1, NULL));
    check(fusion_buffer_map_read(edges, &out));
    if (fwrite(out, 1, pixels, stdout) != pixels) return 1;
    fprintf(stderr, "%u launches\n", fusion_exec_report(exec)->launches);
    fusion_disconnect(session);
    return 0;
}
