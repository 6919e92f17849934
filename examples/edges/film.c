/* film KERNELS.cl SAVED WIDTH HEIGHT < PICTURES > EDGES: the edges of picture after picture, 4 bytes a pixel in, one
   out. The graph is finalized while the first picture is read, and kept in the file SAVED, which spares the next run
   that; one picture is computed while the next one is read. */
#include <fusiond/fusiond.h>
#include <fusiond/window.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { AT_A_TIME = 2 };

static fusion_session *session;
static fusion_module *kernels;
static size_t pixels;
static _Atomic int told; /* pictures that are done; counted in a thread of the session */

struct picture {
    fusion_buffer *photo, *edges;
    fusion_event done; /* 0: none was submitted */
};

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

static fusion_kernel_node node(const char *kernel, int width, int height, const fusion_arg *args, uint32_t n_args)
{
    return (fusion_kernel_node){FUSION_SIZED(fusion_kernel_node),
                                .module = kernels,
                                .kernel = kernel,
                                .dims = 2,
                                .global = {(uint64_t)width, (uint64_t)height},
                                .n_args = n_args,
                                .args = args};
}

static fusion_graph *make_graph(const struct picture *p, int width, int height)
{
    fusion_graph *graph;
    fusion_buffer *light = buffer("light", FUSION_F32, pixels), *strong = buffer("strong", FUSION_F32, pixels);
    const fusion_arg w = fusion_arg_i32(width), h = fusion_arg_i32(height);
    const fusion_arg gray[] = {fusion_arg_read(p->photo), fusion_arg_write(light), w, h};
    const fusion_arg contrast[] = {fusion_arg_read(light), fusion_arg_write(strong), fusion_arg_f32(1.5f), w, h};
    const fusion_arg sobel[] = {fusion_arg_read(strong), fusion_arg_write(p->edges), w, h};
    const fusion_kernel_node nodes[] = {node("gray", width, height, gray, 4),
                                        node("contrast", width, height, contrast, 5),
                                        node("sobel", width, height, sobel, 4)};
    check(fusion_graph_create(session, &graph));
    for (int i = 0; i < 3; i++) check(fusion_graph_add_kernel(graph, &nodes[i], NULL));
    check(fusion_graph_set_outputs(graph, (fusion_arg[]){fusion_arg_read(p->edges)}, 1));
    return graph;
}

/* False: there are no more. */
static bool read_picture(const struct picture *p)
{
    void *in;
    check(fusion_buffer_map(p->photo, &in));
    return fread(in, 4, pixels, stdin) == pixels;
}

static void write_picture(const struct picture *p)
{
    const void *out;
    check(fusion_buffer_map_read(p->edges, &out));
    if (fwrite(out, 1, pixels, stdout) != pixels) exit(1);
}

static void count(void *data, fusion_session *s, fusion_event event, fusion_status status)
{
    (void)data, (void)s, (void)event;
    if (status == FUSION_SUCCESS) atomic_fetch_add(&told, 1);
}

/* Each picture has buffers of its own, which take the place of the graph's. */
static void submit(fusion_exec *exec, struct picture *p)
{
    const fusion_rebind rebind[] = {{.from = fusion_exec_buffer(exec, "photo"), .to = p->photo},
                                    {.from = fusion_exec_buffer(exec, "edges"), .to = p->edges}};
    const fusion_submit_options options = {FUSION_SIZED(fusion_submit_options), .time_limit_ms = 5000};
    check(fusion_exec_submit_with(exec, rebind, 2, &options, &p->done));
    check(fusion_event_on_complete(session, p->done, count, NULL));
}

/* The same without a graph: commands of a queue, which are fused from the second time on that they come together. */
static void through_queue(struct picture *p, int width, int height)
{
    fusion_queue *queue;
    fusion_buffer *light = buffer("light", FUSION_F32, pixels), *strong = buffer("strong", FUSION_F32, pixels);
    const fusion_arg w = fusion_arg_i32(width), h = fusion_arg_i32(height);
    const fusion_arg gray[] = {fusion_arg_read(p->photo), fusion_arg_write(light), w, h};
    const fusion_arg contrast[] = {fusion_arg_read(light), fusion_arg_write(strong), fusion_arg_f32(1.5f), w, h};
    const fusion_kernel_node first = node("gray", width, height, gray, 4),
                             second = node("contrast", width, height, contrast, 5);
    check(fusion_queue_create(session, &queue));
    const fusion_window_options window = {FUSION_SIZED(fusion_window_options), .commands = 2, .microseconds = 10000000};
    check(fusion_queue_set_window(queue, &window));
    for (int i = 0; i < 3; i++) {
        check(fusion_queue_submit(queue, &first, NULL));
        check(fusion_queue_submit(queue, &second, NULL));
    }
    check(fusion_queue_wait(queue));
    fusion_window_counters counters = {FUSION_SIZED(fusion_window_counters)};
    fusion_session_windows(session, &counters);
    fprintf(stderr, "%" PRIu64 " of %" PRIu64 " windows were fused\n", counters.fused, counters.windows);
}

int main(int argc, char **argv)
{
    fusion_exec *exec;
    fusion_future *future = NULL;
    struct picture pictures[AT_A_TIME] = {{0}};
    int n = 0, width = argc == 5 ? atoi(argv[3]) : 0, height = argc == 5 ? atoi(argv[4]) : 0;
    if (width <= 0 || height <= 0) return fprintf(stderr, "usage: film KERNELS.cl SAVED WIDTH HEIGHT < IN > OUT\n"), 2;
    pixels = (size_t)width * (size_t)height;

    check(fusion_connect(NULL, NULL, &session));
    check(fusion_module_load_file(session, argv[1], &kernels));
    for (int i = 0; i < AT_A_TIME; i++) {
        pictures[i].photo = buffer(i ? NULL : "photo", FUSION_U8, 4 * pixels);
        pictures[i].edges = buffer(i ? NULL : "edges", FUSION_U8, pixels);
    }

    bool loaded = fusion_exec_load_file(session, argv[2], NULL, &exec) == FUSION_SUCCESS, more;
    if (!loaded) {
        const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .mode = FUSION_ENABLE};
        check(fusion_graph_finalize_async(make_graph(&pictures[0], width, height), &options, NULL, &future));
    }
    more = read_picture(&pictures[0]);
    if (!loaded) {
        check(fusion_future_wait(future, -1, &exec));
        check(fusion_exec_save_file(exec, argv[2]));
    }

    for (; more; n++) {
        struct picture *p = &pictures[n % AT_A_TIME], *next = &pictures[(n + 1) % AT_A_TIME];
        submit(exec, p);
        if (next->done) {
            check(fusion_event_wait(session, next->done, -1, NULL));
            write_picture(next);
        }
        more = read_picture(next);
    }
    if (n) write_picture(&pictures[(n - 1) % AT_A_TIME]);
    through_queue(&pictures[0], width, height);
    while (atomic_load(&told) < n) check(fusion_session_dispatch(session));
    fprintf(stderr, "%s, %d pictures\n", loaded ? "loaded" : "finalized", atomic_load(&told));
    fusion_disconnect(session);
    return 0;
}
