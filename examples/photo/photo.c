/*
 * The demonstration: a photograph through a chain of eight image kernels, unfused and fused.
 *
 * photo KERNELS.fk PICTURE|- OUTPUT-FOLDER
 *
 * Writes before.png, after.png and graph.dot, and prints what was fused, the bytes moved and the times.
 * The fused result is compared with the unfused one, pixel by pixel.
 */
#include <fusiond/fusiond.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/graph/picture.h"

enum { STAGES = 8, PLANES = 3, RUNS = 15 };

struct stage {
    const char *kernel;
    uint32_t n_values;
    float values[3];
};

static const struct stage stages[STAGES] = {
    {"unpack", 0, {0}},     {"exposure", 1, {1.1f}},    {"white_balance", 3, {1.06f, 1.0f, 0.93f}},
    {"tone_curve", 0, {0}}, {"saturation", 1, {1.25f}}, {"vignette", 1, {0.45f}},
    {"gamma", 0, {0}},      {"pack", 0, {0}},
};

/* Ends the program with the library's words where a call failed. */
static void check(fusion_status status)
{
    if (status == FUSION_SUCCESS) return;
    const fusion_error *e = fusion_last_error();
    fprintf(stderr, "photo: %s: %s: %s\n", fusion_status_name(status), e->object, e->reason);
    exit(1);
}

struct chain {
    fusion_session *session;
    fusion_module *module;
    fusion_graph *graph;
    fusion_buffer *in, *out;
    uint32_t width, height;
};

/* The planes between stage and the one after it: internal to the graph, wherever they end up. */
static void make_planes(struct chain *c, int stage, fusion_buffer *planes[PLANES])
{
    const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
    for (int p = 0; p < PLANES; p++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%c", stages[stage].kernel, "rgb"[p]);
        check(fusion_buffer_create(c->session, name, FUSION_F32, (uint64_t)c->width * c->height, internal, &planes[p]));
    }
}

static void add_stage(struct chain *c, int stage, fusion_buffer *from[PLANES], fusion_buffer *to[PLANES])
{
    fusion_arg args[2 * PLANES + 3];
    uint32_t n = 0;
    if (stage == 0) args[n++] = fusion_arg_read(c->in);
    for (int p = 0; p < PLANES && stage > 0; p++) args[n++] = fusion_arg_read(from[p]);
    for (int p = 0; p < PLANES && stage < STAGES - 1; p++) args[n++] = fusion_arg_write(to[p]);
    if (stage == STAGES - 1) args[n++] = fusion_arg_write(c->out);
    for (uint32_t v = 0; v < stages[stage].n_values; v++) args[n++] = fusion_arg_f32(stages[stage].values[v]);
    fusion_kernel_node node = {FUSION_SIZED(fusion_kernel_node),
                               .module = c->module,
                               .kernel = stages[stage].kernel,
                               .dims = 2,
                               .args = args,
                               .n_args = n};
    node.global[0] = c->width;
    node.global[1] = c->height;
    check(fusion_graph_add_kernel(c->graph, &node, NULL));
}

static void build(struct chain *c, const struct picture *p)
{
    uint64_t pixels = (uint64_t)p->width * p->height;
    void *memory;
    c->width = p->width;
    c->height = p->height;
    check(fusion_buffer_create(c->session, "photo", FUSION_U32, pixels, 0, &c->in));
    check(fusion_buffer_create(c->session, "result", FUSION_U32, pixels, 0, &c->out));
    check(fusion_buffer_map(c->in, &memory));
    memcpy(memory, p->pixels, pixels * 4);
    check(fusion_graph_create(c->session, &c->graph));
    fusion_buffer *from[PLANES] = {0}, *to[PLANES] = {0};
    for (int s = 0; s < STAGES; s++) {
        if (s < STAGES - 1) make_planes(c, s, to);
        add_stage(c, s, from, to);
        memcpy(from, to, sizeof from);
    }
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t run(struct chain *c, fusion_exec *exec)
{
    fusion_event event;
    uint64_t ns;
    check(fusion_exec_submit(exec, NULL, 0, &event));
    check(fusion_event_wait(c->session, event, -1, &ns));
    return ns;
}

static double median_ms(uint64_t *times)
{
    qsort(times, RUNS, sizeof *times, compare_times);
    return (double)times[RUNS / 2] / 1e6;
}

/* Pixels that differ between the result in memory and another. */
static uint64_t differences(struct chain *c, const uint32_t *other)
{
    void *memory;
    uint64_t n = 0;
    check(fusion_buffer_map(c->out, &memory));
    for (uint64_t i = 0; i < (uint64_t)c->width * c->height; i++) n += ((uint32_t *)memory)[i] != other[i];
    return n;
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    } else {
        perror(path);
    }
}

static bool write_picture(const char *folder, const char *name, const struct picture *p)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (picture_write(path, p)) return true;
    fprintf(stderr, "%s: %s\n", path, picture_reason());
    return false;
}

static void print_row(const char *name, const fusion_exec *exec, double ms, uint64_t bytes)
{
    const fusion_report *r = fusion_exec_report(exec);
    printf("%-10s %8u %14.1f MB %10.2f ms %10.1f GB/s %12.1f ms (%s)\n", name, r->launches, (double)bytes / 1e6, ms,
           (double)bytes / ms / 1e6, r->compile_ms, r->cache);
}

static void print_fusion(const fusion_exec *exec)
{
    const fusion_report *r = fusion_exec_report(exec);
    for (uint32_t g = 0; g < r->n_groups; g++) {
        printf("\nlaunch %u (%u pixels at once) =", g + 1, r->groups[g].lanes);
        for (uint32_t i = 0; i < r->groups[g].n_nodes; i++)
            printf(" %s", fusion_exec_node_name(exec, r->groups[g].nodes[i]));
    }
    printf("\ninternalized (no memory behind them):");
    for (uint32_t i = 0; i < r->n_internalized; i++) printf(" %s", r->internalized[i].buffer);
    putchar('\n');
}

int main(int argc, char **argv)
{
    if (argc != 4) return fprintf(stderr, "usage: photo KERNELS.fk PICTURE|- OUTPUT-FOLDER\n"), 2;
    struct picture picture = {0};
    bool generated = strcmp(argv[2], "-") == 0;
    if (!(generated ? picture_generate(4000, 3000, &picture) : picture_read(argv[2], &picture))) {
        fprintf(stderr, "%s: %s\n", generated ? "picture" : argv[2], picture_reason());
        return 1;
    }
    printf("%s: %u x %u, %.1f megapixels\n", generated ? "generated picture" : argv[2], picture.width, picture.height,
           (double)picture.width * picture.height / 1e6);

    struct chain c = {0};
    fusion_exec *unfused, *fused;
    check(fusion_connect(NULL, NULL, &c.session));
    check(fusion_module_load_file(c.session, argv[1], &c.module));
    build(&c, &picture);
    check(fusion_graph_finalize(
        c.graph, &(fusion_finalize_options){FUSION_SIZED(fusion_finalize_options), .mode = FUSION_NONE}, &unfused));
    check(fusion_graph_finalize(
        c.graph, &(fusion_finalize_options){FUSION_SIZED(fusion_finalize_options), .mode = FUSION_REQUIRE}, &fused));

    /* Both results first, then the times, in turn. */
    run(&c, fused);
    void *memory;
    check(fusion_buffer_map(c.out, &memory));
    struct picture result = {picture.width, picture.height, malloc((size_t)picture.width * picture.height * 4)};
    if (!result.pixels) return 1;
    memcpy(result.pixels, memory, (size_t)picture.width * picture.height * 4);
    run(&c, unfused);
    uint64_t wrong = differences(&c, result.pixels), times_unfused[RUNS], times_fused[RUNS];
    for (int i = 0; i < RUNS; i++) {
        times_unfused[i] = run(&c, unfused);
        times_fused[i] = run(&c, fused);
    }

    const fusion_report *r = fusion_exec_report(fused);
    double slow = median_ms(times_unfused), fast = median_ms(times_fused);
    printf("\n%-10s %8s %17s %13s %15s %15s\n", "", "launches", "bytes moved", "time", "", "compiled");
    print_row("unfused", unfused, slow, r->bytes_unfused);
    print_row("fused", fused, fast, r->bytes_fused);
    printf("fused is %.2f times as fast and moves 1/%.1f of the bytes; %llu of %llu pixels differ\n", slow / fast,
           (double)r->bytes_unfused / (double)r->bytes_fused, (unsigned long long)wrong,
           (unsigned long long)picture.width * picture.height);
    print_fusion(fused);

    char *dot;
    check(fusion_exec_dot(fused, &dot));
    write_file(argv[3], "graph.dot", dot);
    free(dot);
    bool written = write_picture(argv[3], "before.png", &picture) && write_picture(argv[3], "after.png", &result);
    picture_clear(&picture);
    picture_clear(&result);
    fusion_disconnect(c.session);
    return written && wrong == 0 ? 0 : 1;
}
