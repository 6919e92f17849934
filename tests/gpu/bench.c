/*
 * bench FOLDER [WORK[:LOCAL] ...]: works on a GPU, through libfusiond on device vulkan, with buffers that stay on the
 * device. A line of JSON for each: median time of a run as the service tells it (with FUSIOND_VULKAN_TIMES=1 by the
 * GPU's own clock) and as it is for who waits for each, what one in ten is quicker than, bytes that a perfect program
 * moves, launches, and a sum that tests/gpu/peers.py compares. FOLDER: the kernels as SPIR-V.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <fusiond/fusiond.h>

enum { PERIOD = 1 << 20, MAX_BUFFERS = 40, MAX_RUNS = 4000, WARM = 5 };
static const double RUN_SECONDS = 0.4;

static fusion_session *session;
static const char *folder;
static fusion_buffer *buffers[MAX_BUFFERS]; /* of the work */
static unsigned n_buffers;
static unsigned wanted_local; /* work-items of a work-group where the work does not say; 0: the service chooses */

static void check(fusion_status status)
{
    if (status == FUSION_SUCCESS) return;
    fprintf(stderr, "bench: %s: %s\n", fusion_last_error()->object, fusion_last_error()->reason);
    exit(1);
}

/* ---- graphs ---- */

struct graph {
    fusion_module *module;
    fusion_graph *graph;
    fusion_buffer *out; /* whose numbers are summed up */
    uint64_t bytes;     /* that are read and written at least */
    uint32_t dims;
    uint64_t global[3], local[3]; /* of the nodes that are added */
};

static void open_graph(struct graph *g, const char *module)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.spv", folder, module);
    check(fusion_module_load_file(session, path, &g->module));
    check(fusion_graph_create(session, &g->graph));
}

static void range(struct graph *g, uint64_t x, uint64_t y, uint64_t local)
{
    g->dims = y ? 2 : 1;
    g->global[0] = x;
    g->global[1] = y;
    g->local[0] = local ? local : wanted_local;
    g->local[1] = y && g->local[0];
}

static fusion_buffer *make_of(fusion_type type, const char *name, uint64_t n, unsigned properties)
{
    fusion_buffer **b = &buffers[n_buffers++];
    check(fusion_buffer_create(session, name, type, n, properties, b));
    return *b;
}

static fusion_buffer *make(const char *name, uint64_t n, unsigned properties)
{
    return make_of(FUSION_F32, name, n, properties);
}

static fusion_buffer *internal(const char *name, uint64_t n)
{
    return make(name, n, FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT);
}

/* Numbers from low to high that repeat, which the peers make too. */
static fusion_buffer *input(const char *name, uint64_t n, uint32_t seed, float low, float high)
{
    fusion_buffer *b = make(name, n, 0);
    float *x;
    check(fusion_buffer_map(b, (void **)&x));
    for (uint32_t i = 0; i < PERIOD && i < n; i++)
        x[i] = low + (high - low) * (float)((i * 2654435761u + seed * 40503u) >> 12) / (float)PERIOD;
    for (uint64_t at = PERIOD; at < n; at += PERIOD) memcpy(x + at, x, (n - at < PERIOD ? n - at : PERIOD) * sizeof *x);
    fusion_buffer_unmap(b);
    return b;
}

static void add(struct graph *g, const char *kernel, const fusion_arg *args, uint32_t n)
{
    fusion_kernel_node node = {.module = g->module, .kernel = kernel, .dims = g->dims, .n_args = n, .args = args};
    memcpy(node.global, g->global, sizeof node.global);
    memcpy(node.local, g->local, sizeof node.local);
    check(fusion_graph_add_kernel(g->graph, &node, NULL));
}

#define ADD(g, kernel, ...)                                                                                            \
    do {                                                                                                               \
        const fusion_arg args_[] = {__VA_ARGS__};                                                                      \
        add(g, kernel, args_, sizeof args_ / sizeof *args_);                                                           \
    } while (0)
#define READ(b) fusion_arg_read(b)
#define WRITE(b) fusion_arg_write(b)
#define INT(x) fusion_arg_i32(x)
#define FLOAT(x) fusion_arg_f32(x)

/* ---- works ---- */

enum { EWISE = 1 << 28, CHAIN = 1 << 26, OPTIONS = 1 << 24, SIDE = 8192, PICTURE = 4096, ROWS_TOTAL = 1 << 26 };

static void ewise4(struct graph *g)
{
    open_graph(g, "elementwise");
    range(g, EWISE, 0, 0);
    fusion_buffer *a = input("a", EWISE, 1, 0, 1), *b = input("b", EWISE, 2, 0, 1), *c = input("c", EWISE, 3, 0, 1);
    fusion_buffer *sum = internal("sum", EWISE), *left = internal("left", EWISE), *right = internal("right", EWISE);
    g->out = make("out", EWISE, 0);
    ADD(g, "add", READ(a), READ(b), WRITE(sum), INT(EWISE));
    ADD(g, "multiply", READ(sum), READ(c), WRITE(left), INT(EWISE));
    ADD(g, "scale", READ(sum), WRITE(right), FLOAT(5), INT(EWISE));
    ADD(g, "add", READ(left), READ(right), WRITE(g->out), INT(EWISE));
    g->bytes = (uint64_t)EWISE * 4 * 4;
}

static void by_hand(struct graph *g)
{
    open_graph(g, "rows");
    range(g, EWISE / 4, 0, 256);
    fusion_buffer *a = input("a", EWISE, 1, 0, 1), *b = input("b", EWISE, 2, 0, 1), *c = input("c", EWISE, 3, 0, 1);
    g->out = make("out", EWISE, 0);
    ADD(g, "by_hand", READ(a), READ(b), READ(c), WRITE(g->out));
    g->bytes = (uint64_t)EWISE * 4 * 4;
}

static void copy(struct graph *g)
{
    open_graph(g, "rows");
    range(g, EWISE / 4, 0, 256);
    fusion_buffer *a = input("a", EWISE, 1, 0, 1);
    g->out = make("out", EWISE, 0);
    ADD(g, "copy", READ(a), WRITE(g->out));
    g->bytes = (uint64_t)EWISE * 4 * 2;
}

static void chain16(struct graph *g)
{
    fusion_buffer *x = input("x", CHAIN, 1, 0, 1);
    open_graph(g, "elementwise");
    range(g, CHAIN, 0, 0);
    for (int i = 0; i < 16; i++) {
        fusion_buffer *y = i < 15 ? internal(NULL, CHAIN) : make("out", CHAIN, 0);
        ADD(g, i & 1 ? "offset" : "scale", READ(x), WRITE(y), FLOAT(i & 1 ? 0.5f : 1.01f), INT(CHAIN));
        x = y;
    }
    g->out = x;
    g->bytes = (uint64_t)CHAIN * 4 * 2;
}

static void black_scholes(struct graph *g)
{
    enum { N = OPTIONS };
    open_graph(g, "black_scholes");
    range(g, N, 0, 0);
    fusion_buffer *spot = input("spot", N, 1, 10, 100), *strike = input("strike", N, 2, 10, 100);
    fusion_buffer *years = input("years", N, 3, 0.25f, 4), *d1 = internal("d1", N), *d2 = internal("d2", N);
    fusion_buffer *n1 = internal("n1", N), *n2 = internal("n2", N), *present = internal("present", N);
    fusion_buffer *put = make("put", N, 0);
    g->out = make("call", N, 0);
    ADD(g, "distances", READ(spot), READ(strike), READ(years), WRITE(d1), WRITE(d2), FLOAT(0.02f), FLOAT(0.3f), INT(N));
    ADD(g, "normal", READ(d1), WRITE(n1), INT(N));
    ADD(g, "normal", READ(d2), WRITE(n2), INT(N));
    ADD(g, "discounted", READ(strike), READ(years), WRITE(present), FLOAT(0.02f), INT(N));
    ADD(g, "prices", READ(spot), READ(present), READ(n1), READ(n2), WRITE(g->out), WRITE(put), INT(N));
    g->bytes = (uint64_t)N * 4 * 5;
}

static void mandelbrot(struct graph *g)
{
    open_graph(g, "mandelbrot");
    range(g, PICTURE, PICTURE, 0);
    g->out = make_of(FUSION_I32, "rounds", PICTURE * PICTURE, 0);
    ADD(g, "mandelbrot", WRITE(g->out), INT(PICTURE), INT(PICTURE), FLOAT(-2.2f), FLOAT(-1.5f), FLOAT(3.0f / PICTURE),
        INT(256));
    g->bytes = (uint64_t)PICTURE * PICTURE * 4;
}

static void stencil(struct graph *g)
{
    enum { N = SIDE * SIDE };
    open_graph(g, "stencil");
    range(g, SIDE, SIDE, 0);
    fusion_buffer *a = input("a", N, 1, 0, 1), *source = input("source", N, 2, 0, 1);
    fusion_buffer *spread = internal("spread", N), *fed = internal("fed", N), *cooled = internal("cooled", N);
    g->out = make("out", N, 0);
    ADD(g, "diffuse", READ(a), WRITE(spread), FLOAT(0.2f), INT(SIDE), INT(SIDE));
    ADD(g, "add_source", READ(spread), READ(source), WRITE(fed), FLOAT(0.1f), INT(SIDE), INT(SIDE));
    ADD(g, "cool", READ(fed), WRITE(cooled), FLOAT(0.05f), INT(SIDE), INT(SIDE));
    ADD(g, "limit", READ(cooled), WRITE(g->out), FLOAT(0.1f), FLOAT(0.9f), INT(SIDE), INT(SIDE));
    g->bytes = (uint64_t)N * 4 * 3;
}

/* Of rows with so many numbers, by a work-group of `local`, or of another size that there is a kernel for. */
static void rows(struct graph *g, const char *work, uint64_t columns, unsigned local, int layernorm)
{
    char kernel[32];
    if (wanted_local) local = wanted_local;
    snprintf(kernel, sizeof kernel, "%s_%u", work, local);
    open_graph(g, "rows");
    range(g, ROWS_TOTAL / columns * local, 0, local);
    fusion_buffer *x = input("x", ROWS_TOTAL, 1, -2, 2);
    g->out = make("out", ROWS_TOTAL, 0);
    g->bytes = (uint64_t)ROWS_TOTAL * 4 * 2;
    if (layernorm)
        ADD(g, kernel, READ(x), READ(input("scale", columns, 2, 0, 1)), READ(input("shift", columns, 3, 0, 1)),
            WRITE(g->out));
    else
        ADD(g, kernel, READ(x), WRITE(g->out));
}

#define ROWS(suffix, columns, softmax_local, layernorm_local)                                                          \
    static void softmax_##suffix(struct graph *g)                                                                      \
    {                                                                                                                  \
        rows(g, "softmax_" #suffix, columns, softmax_local, 0);                                                        \
    }                                                                                                                  \
    static void layernorm_##suffix(struct graph *g)                                                                    \
    {                                                                                                                  \
        rows(g, "layernorm_" #suffix, columns, layernorm_local, 1);                                                    \
    }
ROWS(1k, 1024, 128, 128)
ROWS(4k, 4096, 256, 256)
ROWS(16k, 16384, 512, 512)
ROWS(32k, 32768, 1024, 1024)

/* Nothing to speak of: what a submission takes. */
static void launch(struct graph *g)
{
    open_graph(g, "elementwise");
    range(g, 1024, 0, 0);
    fusion_buffer *x = input("x", 1024, 1, 0, 1);
    g->out = make("out", 1024, 0);
    ADD(g, "scale", READ(x), WRITE(g->out), FLOAT(2), INT(1024));
    g->bytes = 8192;
}

static const struct work {
    const char *name;
    void (*build)(struct graph *g);
} works[] = {
    {"launch", launch},
    {"copy", copy},
    {"ewise4", ewise4},
    {"by_hand", by_hand},
    {"chain16", chain16},
    {"black_scholes", black_scholes},
    {"mandelbrot", mandelbrot},
    {"stencil", stencil},
    {"softmax_1k", softmax_1k},
    {"softmax_4k", softmax_4k},
    {"softmax_16k", softmax_16k},
    {"softmax_32k", softmax_32k},
    {"layernorm_1k", layernorm_1k},
    {"layernorm_4k", layernorm_4k},
    {"layernorm_16k", layernorm_16k},
    {"layernorm_32k", layernorm_32k},
};

/* ---- running ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double run(fusion_exec *exec, double *told)
{
    fusion_event event;
    uint64_t ns;
    double began = now();
    check(fusion_exec_submit(exec, NULL, 0, &event));
    check(fusion_event_wait(session, event, -1, &ns));
    double wall = now() - began;
    *told = (double)ns / 1e9;
    return wall;
}

/* Of the first numbers; integers of the picture. */
static double sum_up(const struct graph *g, int integers)
{
    const void *memory;
    double sum = 0;
    uint64_t n = fusion_buffer_bytes(g->out) / 4;
    check(fusion_buffer_map_read(g->out, &memory));
    for (uint64_t i = 0; i < n && i < PERIOD; i++)
        sum += integers ? ((const int32_t *)memory)[i] : (double)((const float *)memory)[i];
    return sum;
}

/* said: the work as it was asked for. */
static void measure(const struct work *w, const char *said)
{
    static double told[MAX_RUNS], wall[MAX_RUNS];
    struct graph g = {.local = {0}};
    fusion_exec *exec;
    fusion_transfers before = {FUSION_SIZED(fusion_transfers)}, after = {FUSION_SIZED(fusion_transfers)};
    int n = 0;
    w->build(&g);
    check(fusion_graph_finalize(g.graph, &(fusion_finalize_options){.mode = FUSION_ENABLE, .device = "vulkan"}, &exec));
    double first = run(exec, told);
    for (int i = 0; i < WARM; i++) run(exec, told);
    fusion_session_transfers(session, &before);
    for (double end = now() + RUN_SECONDS; n < MAX_RUNS && (n < 10 || now() < end); n++) wall[n] = run(exec, &told[n]);
    fusion_session_transfers(session, &after);
    qsort(told, (size_t)n, sizeof *told, compare);
    qsort(wall, (size_t)n, sizeof *wall, compare);
    printf("{\"work\": \"%s\", \"ms\": %.6f, \"wall_ms\": %.6f, \"wall_tenth_ms\": %.6f, \"first_ms\": %.3f, "
           "\"gb_per_s\": %.1f, "
           "\"launches\": %u, \"moved\": %" PRIu64 ", \"sum\": %.9g}\n",
           said, told[n / 2] * 1e3, wall[n / 2] * 1e3, wall[n / 10] * 1e3, first * 1e3,
           (double)g.bytes / told[n / 2] / 1e9, fusion_exec_report(exec)->launches,
           after.to_device - before.to_device + after.from_device - before.from_device,
           sum_up(&g, w->build == mandelbrot));
    fflush(stdout);
    fusion_exec_destroy(exec);
    fusion_graph_destroy(g.graph);
    fusion_module_destroy(g.module);
    while (n_buffers) fusion_buffer_destroy(buffers[--n_buffers]);
}

static void measure_named(const char *said)
{
    size_t length = strcspn(said, ":");
    wanted_local = said[length] ? (unsigned)atoi(said + length + 1) : 0;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strncmp(works[i].name, said, length) == 0 && !works[i].name[length]) measure(&works[i], said);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench FOLDER [WORK ...]\n");
        return 2;
    }
    folder = argv[1];
    check(fusion_connect(NULL, &(fusion_connect_options){.private_daemon = true}, &session));
    for (int i = 2; i < argc; i++) measure_named(argv[i]);
    for (size_t i = 0; argc == 2 && i < sizeof works / sizeof *works; i++) measure(&works[i], works[i].name);
    fusion_disconnect(session);
    return 0;
}
