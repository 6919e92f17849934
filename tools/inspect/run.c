/* fusion-inspect run, explain and compile: a graph file through the service. */
#include <getopt.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/features/ahead.h"
#include "tools/inspect/commands.h"
#include "tools/inspect/compile.h"
#include "tools/inspect/explain.h"
#include "tools/inspect/graph/array_file.h"
#include "tools/inspect/graph/graph_file.h"
#include "tools/inspect/graph/image_file.h"
#include "tools/inspect/graph/load.h"
#include "tools/inspect/report.h"
#include "tools/inspect/terminal/complain.h"
#include "tools/inspect/terminal/json.h"

enum { MAX_FILES = 256 };

struct binding { /* --in NAME=FILE, --out NAME=FILE */
    char *name;
    const char *file;
};

struct options {
    const char *graph;
    fusion_finalize_options finalize;
    struct binding in[MAX_FILES], out[MAX_FILES];
    uint32_t n_in, n_out;
    bool json, ir, assembly;
    uint32_t repeat;
    const char *dot, *svg;
    struct compile_request compile;
};

static void usage(const char *command)
{
    printf("usage: fusion-inspect %s GRAPH.yaml [options]\n"
           "  --fusion none|enable|require   default enable\n"
           "  --barriers                     insert_barriers\n"
           "  --barriers=automatic|none|needed\n"
           "                                 which others between kernels; default automatic\n"
           "  --device NAME                  default cpu; reference runs the checking interpreter\n"
           "  --tier automatic|quick|compiled\n"
           "                                 quick: interpreted until there is code; default automatic,\n"
           "                                 for explain compiled\n"
           "  --debug                        run in the interpreter, and check what the properties assert\n"
           "  --json                         one JSON object\n",
           command);
    if (strcmp(command, "run") == 0)
        puts("  --in BUFFER=FILE               read a buffer from .npy or raw bytes, an image from a\n"
             "                                 picture (.png, .jpg), too; others start as 0 or as the file "
             "says\n"
             "  --out BUFFER=FILE              write a buffer as .npy or raw bytes, an image as .png, too\n"
             "  --repeat N                     submit N times; run_ms is the median");
    else if (strcmp(command, "compile") == 0)
        puts("  --spirv FILE|FOLDER            write the kernels of its launches as SPIR-V; GRAPH.yaml may\n"
             "                                 be a module, too, which needs no service\n"
             "  --dialect kernel|vulkan        for OpenCL and Level Zero (the default), or for Vulkan");
    else
        puts("  --ir                           the kernel of each launch, too\n"
             "  --assembly                     the generated assembly, too\n"
             "  --dot FILE, --svg FILE         the picture of the graph with its groups");
}

static bool parse_mode(const char *text, fusion_mode *mode)
{
    static const char *const names[] = {"none", "enable", "require"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text)) continue;
        *mode = (fusion_mode)i;
        return true;
    }
    fprintf(stderr, "--fusion takes none, enable or require, not `%s`\n", text);
    return false;
}

static bool parse_tier(const char *text, fusion_tier *tier)
{
    static const char *const names[] = {"automatic", "quick", "compiled"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text)) continue;
        *tier = (fusion_tier)i;
        return true;
    }
    fprintf(stderr, "--tier takes automatic, quick or compiled, not `%s`\n", text);
    return false;
}

/* Alone it is the property. */
static bool parse_barriers(const char *text, fusion_finalize_options *o)
{
    static const char *const names[] = {"automatic", "none", "needed"};
    if (!text) return o->insert_barriers = true;
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text)) continue;
        o->barriers = (fusion_barriers)i;
        return true;
    }
    fprintf(stderr, "--barriers takes automatic, none, needed or nothing, not `%s`\n", text);
    return false;
}

static bool parse_binding(char *text, struct binding *list, uint32_t *n)
{
    char *equals = strchr(text, '=');
    if (!equals || *n == MAX_FILES) {
        fprintf(stderr, "`%s`: BUFFER=FILE is needed, at most %d times\n", text, MAX_FILES);
        return false;
    }
    *equals = 0;
    list[(*n)++] = (struct binding){text, equals + 1};
    return true;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = {{"in", required_argument, NULL, 'i'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"fusion", required_argument, NULL, 'f'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"barriers", optional_argument, NULL, 'b'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"repeat", required_argument, NULL, 'r'},
                                          {"assembly", no_argument, NULL, 'a'},
                                          {"ir", no_argument, NULL, 'R'},
                                          {"dot", required_argument, NULL, 'D'},
                                          {"svg", required_argument, NULL, 'S'},
                                          {"debug", no_argument, NULL, 'g'},
                                          {"tier", required_argument, NULL, 't'},
                                          {"spirv", required_argument, NULL, 's'},
                                          {"dialect", required_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    bool explains = strcmp(argv[0], "explain") == 0;
    *o =
        (struct options){.finalize = {.mode = FUSION_ENABLE, .tier = explains ? FUSION_TIER_COMPILED : 0}, .repeat = 1};
    int c;
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        bool ok = true;
        switch (c) {
        case 'i': ok = parse_binding(optarg, o->in, &o->n_in); break;
        case 'o': ok = parse_binding(optarg, o->out, &o->n_out); break;
        case 'f': ok = parse_mode(optarg, &o->finalize.mode); break;
        case 'j':
            o->json = true;
            complain_as_json();
            break;
        case 'b': ok = parse_barriers(optarg, &o->finalize); break;
        case 'd': o->finalize.device = optarg; break;
        case 'g': o->finalize.debug = true; break;
        case 'r': o->repeat = (uint32_t)strtoul(optarg, NULL, 10); break;
        case 't': ok = parse_tier(optarg, &o->finalize.tier); break;
        case 'a': o->assembly = true; break;
        case 'R': o->ir = true; break;
        case 'D': o->dot = optarg; break;
        case 'S': o->svg = optarg; break;
        case 's': o->compile.spirv = optarg; break;
        case 'l': o->compile.dialect = optarg; break;
        case 'h': usage(argv[0]); exit(0);
        default: ok = false;
        }
        if (!ok) return false;
    }
    if (optind != argc - 1 || o->repeat == 0) {
        usage(argv[0]);
        return false;
    }
    o->graph = argv[optind];
    return true;
}

/* ---- run ---- */

static bool read_input(struct loaded *l, uint32_t index, const char *path)
{
    const struct loaded_buffer *b = &l->buffers[index];
    if (b->image) return image_file_read(path, b->file, b->image);
    void *memory = loaded_memory(l, index);
    bool ok = memory && array_read(path, b->file->type, b->file->count, memory);
    loaded_leave(l, index);
    return ok;
}

static bool write_output(struct loaded *l, uint32_t index, const char *path)
{
    const struct loaded_buffer *b = &l->buffers[index];
    if (b->image) return image_file_write(path, b->file, b->image);
    void *memory = loaded_memory(l, index);
    bool ok = memory && array_write(path, b->file->type, b->file->dims, b->file->shape, memory);
    loaded_leave(l, index);
    return ok;
}

static bool read_inputs(struct loaded *l, const struct options *o)
{
    for (uint32_t i = 0; i < o->n_in; i++) {
        int index = loaded_find(l, o->in[i].name);
        if (index < 0 || !read_input(l, (uint32_t)index, o->in[i].file)) return false;
    }
    return true;
}

static bool write_outputs(struct loaded *l, const struct options *o)
{
    for (uint32_t i = 0; i < o->n_out; i++) {
        int index = loaded_find(l, o->out[i].name);
        if (index < 0 || !write_output(l, (uint32_t)index, o->out[i].file)) return false;
    }
    return true;
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Submits as often as asked; the median of the execution times. */
static bool submit(fusion_session *s, fusion_exec *exec, uint32_t repeat, double *run_ms)
{
    uint64_t *times = calloc(repeat, sizeof *times);
    bool ok = true;
    for (uint32_t i = 0; i < repeat && ok; i++) {
        fusion_event event;
        ok = fusion_exec_submit(exec, NULL, 0, &event) == FUSION_SUCCESS &&
             fusion_event_wait(s, event, -1, &times[i]) == FUSION_SUCCESS;
    }
    if (ok) {
        qsort(times, repeat, sizeof *times, compare_times);
        uint64_t median = times[repeat / 2];
        *run_ms = (double)median / 1e6;
    } else {
        print_error("run");
    }
    free(times);
    return ok;
}

static bool run_graph(struct loaded *l, const struct options *o)
{
    fusion_exec *exec;
    double run_ms;
    if (!read_inputs(l, o)) return false;
    if (fusion_graph_finalize(l->graph, &o->finalize, &exec) != FUSION_SUCCESS) return loaded_fail(l);
    if (!submit(l->session, exec, o->repeat, &run_ms) || !write_outputs(l, o)) return false;
    fusion_transfers moved;
    fusion_session_transfers(l->session, &moved);
    if (o->json) {
        char text[32];
        json_object *json = report_json(exec);
        snprintf(text, sizeof text, "%.6f", run_ms);
        json_object_object_add(json, "run_ms", json_object_new_double_s(run_ms, text));
        json_object_object_add(json, "bytes_to_device", json_object_new_int64((int64_t)moved.to_device));
        json_object_object_add(json, "bytes_from_device", json_object_new_int64((int64_t)moved.from_device));
        print_json(json);
        json_object_put(json);
    } else {
        report_print(exec);
        printf("run in %.3f ms\n", run_ms);
        if (moved.to_device || moved.from_device)
            printf("moved %" PRIu64 " bytes to the device, %" PRIu64 " back\n", moved.to_device, moved.from_device);
        report_print_tiers(exec);
    }
    return true;
}

/* ---- explain ---- */

static bool write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    bool ok = f && fputs(text, f) >= 0;
    if (f) ok = fclose(f) == 0 && ok;
    if (!ok) perror(path);
    return ok;
}

/* Graphviz' dot turns the picture into SVG. */
static bool write_svg(const char *path, const char *dot)
{
    char source[] = "/tmp/fusion-inspect-XXXXXX";
    int fd = mkstemp(source);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    bool ok = f && fputs(dot, f) >= 0;
    if (f) ok = fclose(f) == 0 && ok;
    pid_t pid;
    int status = -1;
    char *const argv[] = {"dot", "-Tsvg", "-o", (char *)path, source, NULL};
    int failure = ok ? posix_spawnp(&pid, "dot", NULL, NULL, argv, environ) : EOF;
    if (failure == 0) waitpid(pid, &status, 0);
    if (fd >= 0) remove(source);
    if (failure || status) fprintf(stderr, "%s: Graphviz' dot could not be run or failed (package graphviz)\n", path);
    return failure == 0 && status == 0;
}

static bool write_pictures(const fusion_exec *exec, const struct options *o)
{
    char *dot;
    if (!o->dot && !o->svg) return true;
    if (fusion_exec_dot(exec, &dot) != FUSION_SUCCESS) {
        print_error("picture");
        return false;
    }
    bool ok = (!o->dot || write_text(o->dot, dot)) && (!o->svg || write_svg(o->svg, dot));
    free(dot);
    return ok;
}

static bool explain_graph(struct loaded *l, const struct options *o)
{
    fusion_exec *exec;
    fusion_finalize_options finalize = o->finalize;
    finalize.keep_ir = true;
    finalize.keep_assembly = o->assembly;
    if (fusion_graph_finalize(l->graph, &finalize, &exec) != FUSION_SUCCESS) return loaded_fail(l);
    if (!write_pictures(exec, o)) return false;
    if (o->json)
        explain_json(l, exec);
    else
        explain_print(l, exec, o->ir);
    return true;
}

/* ---- compile ---- */

static bool compile_graph(struct loaded *l, const struct options *o)
{
    fusion_exec *exec;
    fusion_finalize_options finalize = o->finalize;
    finalize.keep_ir = true;
    if (fusion_graph_finalize(l->graph, &finalize, &exec) == FUSION_SUCCESS) return compile_launches(exec, &o->compile);
    return loaded_fail(l);
}

/* ---- all of them ---- */

static int with_graph(const struct context *c, int argc, char **argv,
                      bool (*work)(struct loaded *, const struct options *))
{
    struct options o;
    struct loaded l = {0};
    if (!parse_options(argc, argv, &o)) return 2;
    struct graph_file *file = graph_file_read(o.graph);
    fusion_session *session = file ? connect_or_say(c) : NULL;
    bool ok = session && loaded_open(&l, session, file) && work(&l, &o);
    loaded_close(&l);
    fusion_disconnect(session);
    graph_file_free(file);
    return ok ? 0 : 1;
}

int command_run(const struct context *c, int argc, char **argv)
{
    return with_graph(c, argc, argv, run_graph);
}

int command_explain(const struct context *c, int argc, char **argv)
{
    return with_graph(c, argc, argv, explain_graph);
}

static bool is_graph(const char *path)
{
    const char *end = strrchr(path, '.');
    return end && (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0);
}

int command_bundle(const struct context *c, int argc, char **argv)
{
    (void)c;
    return bundle_command(argc, argv);
}

int command_compile(const struct context *c, int argc, char **argv)
{
    struct options o;
    if (ahead_is_asked(argc, argv)) return ahead_command(argc, argv);
    if (!parse_options(argc, argv, &o)) return 2;
    if (!o.compile.spirv) {
        usage(argv[0]);
        return 2;
    }
    if (!is_graph(o.graph)) return compile_module(o.graph, &o.compile) ? 0 : 1;
    optind = 0;
    return with_graph(c, argc, argv, compile_graph);
}
