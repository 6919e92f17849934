/* fusion-inspect run, explain, tune and compile: a graph file through the service. */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/features/ahead.h"
#include "tools/inspect/commands.h"
#include "tools/inspect/graph/array_file.h"
#include "tools/inspect/graph/graph_file.h"
#include "tools/inspect/graph/image_file.h"
#include "tools/inspect/graph/load.h"
#include "tools/inspect/graph/saved.h"
#include "tools/inspect/run/compile.h"
#include "tools/inspect/run/explain.h"
#include "tools/inspect/run/options.h"
#include "tools/inspect/run/profile.h"
#include "tools/inspect/run/report.h"
#include "tools/inspect/run/trace.h"
#include "tools/inspect/run/tune.h"
#include "tools/inspect/terminal/complain.h"
#include "tools/inspect/terminal/json.h"
#include "tools/inspect/terminal/numbers.h"
#include "tools/inspect/terminal/progress.h"
#include "tools/inspect/terminal/usage.h"

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

/* What was done, in times. */
struct measured {
    struct runs fused, unfused; /* unfused: with --compare */
    double bandwidth;           /* with --profile */
    struct trace_spans before;
};

static bool finalize(struct loaded *l, const fusion_finalize_options *options, fusion_exec **exec)
{
    if (l->exec) {
        *exec = l->exec;
        return true;
    }
    progress("finalizing", 0, 0);
    bool ok = fusion_graph_finalize(l->graph, options, exec) == FUSION_SUCCESS || loaded_fail(l);
    progress_end();
    return ok;
}

/* Where it is asked for. */
static bool save_exec(fusion_exec *exec, const struct options *o)
{
    if (!o->save || fusion_exec_save_file(exec, o->save) == FUSION_SUCCESS) return true;
    print_error(o->save);
    return false;
}

/* Both in turn, so that what else the machine does meets both. */
static bool run_all(struct loaded *l, const struct options *o, struct measured *m)
{
    if ((o->profile || o->trace) && fusion_session_set_profiling(l->session, true) != FUSION_SUCCESS) {
        print_error("run");
        return false;
    }
    for (uint32_t i = 0; i < o->repeat; i++) {
        progress("run", i + 1, o->repeat);
        if (!runs_add(&m->fused, l->session) || (o->compare && !runs_add(&m->unfused, l->session)))
            return loaded_fail(l);
    }
    progress_end();
    fusion_session_set_profiling(l->session, false);
    return true;
}

/* What is profiled are the steps of one round. */
static bool init_runs(struct runs *r, fusion_exec *exec, const struct options *o)
{
    return runs_init(r, exec, o->repeat, o->rounds, !o->profile && !o->trace);
}

static bool prepare(struct loaded *l, const struct options *o, struct measured *m)
{
    fusion_exec *exec;
    fusion_finalize_options unfused = o->finalize;
    unfused.mode = FUSION_NONE;
    m->before.finalize_ns = now_ns();
    if (!finalize(l, &o->finalize, &exec) || !init_runs(&m->fused, exec, o)) return false;
    m->before.finalized_ns = now_ns();
    if (!save_exec(exec, o)) return false;
    return !o->compare || (finalize(l, &unfused, &exec) && init_runs(&m->unfused, exec, o));
}

static double ratio_of(const struct measured *m)
{
    double fused = runs_median_ms(&m->fused);
    return fused > 0 ? runs_median_ms(&m->unfused) / fused : 0;
}

static json_object *ms_json(double ms)
{
    char text[32];
    snprintf(text, sizeof text, "%.6f", ms);
    return json_object_new_double_s(ms, text);
}

static json_object *compare_json(const struct measured *m)
{
    const fusion_report *r = fusion_exec_report(m->unfused.exec);
    json_object *o = json_object_new_object();
    json_object_object_add(o, "launches", json_object_new_int64(r->launches));
    json_object_object_add(o, "bytes", json_object_new_int64((int64_t)r->bytes_fused));
    json_object_object_add(o, "run_ms", ms_json(runs_median_ms(&m->unfused)));
    json_object_object_add(o, "ratio", ms_json(ratio_of(m)));
    return o;
}

static void print_comparison(const struct measured *m)
{
    const struct runs *both[] = {&m->fused, &m->unfused};
    char size[NUMBER_TEXT];
    for (int i = 0; i < 2; i++) {
        const fusion_report *r = fusion_exec_report(both[i]->exec);
        printf("%-8s %10.3f ms  %4" PRIu32 " launch%s %s of traffic\n", i ? "unfused" : "fused",
               runs_median_ms(both[i]), r->launches, r->launches == 1 ? ",  " : "es,", size_text(r->bytes_fused, size));
    }
    printf("fused is %.2f times as fast (", ratio_of(m));
    printf(m->fused.n > 1 ? "medians of %" PRIu32 " runs in turn)\n" : "%" PRIu32 " run of each)\n", m->fused.n);
}

static void tell_json(const struct options *o, const struct measured *m, const fusion_transfers *moved)
{
    json_object *json = report_json(m->fused.exec);
    json_object_object_add(json, "run_ms", ms_json(runs_median_ms(&m->fused)));
    json_object_object_add(json, "rounds", json_object_new_int64(m->fused.rounds));
    json_object_object_add(json, "rounds_together", json_object_new_int64(m->fused.together));
    json_object_object_add(json, "bytes_to_device", json_object_new_int64((int64_t)moved->to_device));
    json_object_object_add(json, "bytes_from_device", json_object_new_int64((int64_t)moved->from_device));
    if (o->profile) json_object_object_add(json, "profile", profile_json(&m->fused, m->bandwidth));
    if (o->compare) json_object_object_add(json, "unfused", compare_json(m));
    print_json(json);
    json_object_put(json);
}

static void tell(const struct options *o, const struct measured *m, const fusion_transfers *moved)
{
    report_print(m->fused.exec);
    printf("run in %.3f ms", runs_median_ms(&m->fused));
    if (o->rounds > 1) printf(" (%" PRIu32 " rounds, %" PRIu32 " at a time)", o->rounds, m->fused.together);
    puts("");
    if (moved->to_device || moved->from_device)
        printf("moved %" PRIu64 " bytes to the device, %" PRIu64 " back\n", moved->to_device, moved->from_device);
    report_print_tiers(m->fused.exec);
    if (o->profile) profile_print(&m->fused, m->bandwidth);
    if (o->compare) print_comparison(m);
    if (o->interpreted && (o->compare || o->profile))
        puts("times are the interpreter's, which checks each access: they tell nothing of a device");
}

static bool measure(struct loaded *l, const struct options *o, struct measured *m)
{
    fusion_transfers moved = {FUSION_SIZED(fusion_transfers)};
    if (!prepare(l, o, m) || !run_all(l, o, m)) return false;
    fusion_session_transfers(l->session, &moved);
    if (!write_outputs(l, o)) return false;
    if (o->trace && !trace_write(o->trace, &m->fused, &m->before, o->finalize.device)) return false;
    if (o->profile) m->bandwidth = profile_bandwidth(l->session, o->finalize.device);
    if (o->json)
        tell_json(o, m, &moved);
    else
        tell(o, m, &moved);
    return true;
}

static bool run_graph(struct loaded *l, const struct options *o)
{
    struct measured m = {.before.load_ns = o->began_ns};
    bool ok = read_inputs(l, o) && measure(l, o, &m);
    runs_clear(&m.fused);
    runs_clear(&m.unfused);
    return ok;
}

/* ---- explain ---- */

static bool write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    bool ok = f && fputs(text, f) >= 0;
    if (f) ok = fclose(f) == 0 && ok;
    if (!ok) complain_at(path, 0, 0, "%s", strerror(errno));
    return ok;
}

/* Runs Graphviz' dot from one file to the other: NULL, or what went wrong. */
static const char *run_dot(FILE *from, FILE *to)
{
    char *const argv[] = {"dot", "-Tsvg", NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fileno(from), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, fileno(to), STDOUT_FILENO);
    int failure = posix_spawnp(&pid, "dot", &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (failure) return strerror(failure);
    return waitpid(pid, &status, 0) == pid && status == 0 ? NULL : "it failed";
}

/* The files are opened here, so that what is wrong with them is not taken for dot's. */
static bool write_svg(const char *path, const char *dot)
{
    FILE *picture = fopen(path, "we"), *text = picture ? tmpfile() : NULL;
    bool ok = text && fputs(dot, text) >= 0 && fflush(text) == 0;
    if (!ok) complain_at(path, 0, 0, "%s", strerror(errno));
    if (ok) {
        rewind(text);
        const char *failure = run_dot(text, picture);
        if (failure) complain_at(path, 0, 0, "Graphviz' dot (package graphviz): %s", failure);
        ok = !failure;
    }
    if (text) fclose(text);
    if (picture) fclose(picture);
    return ok;
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
    fusion_finalize_options options = o->finalize;
    options.keep_ir = true;
    options.keep_assembly = o->assembly;
    if (!finalize(l, &options, &exec)) return false;
    if (!write_pictures(exec, o)) return false;
    if (o->json)
        explain_json(l, exec);
    else
        explain_print(l, exec, o->ir);
    return true;
}

/* ---- tune ---- */

static bool tune(struct loaded *l, const struct options *o)
{
    return read_inputs(l, o) && tune_graph(l, o);
}

/* ---- compile ---- */

static bool compile_graph(struct loaded *l, const struct options *o)
{
    fusion_exec *exec;
    fusion_finalize_options options = o->finalize;
    options.keep_ir = o->compile.spirv != NULL;
    if (!finalize(l, &options, &exec) || !save_exec(exec, o)) return false;
    return !o->compile.spirv || compile_launches(exec, &o->compile);
}

/* ---- all of them ---- */

/* With the time limit that is asked for. file may be NULL. */
static fusion_session *connect_for(const struct context *c, const struct options *o, const struct graph_file *file)
{
    struct context own = *c;
    own.time_limit_ms = o->time_limit_ms || !file ? o->time_limit_ms : (uint32_t)file->time_limit_ms;
    return connect_or_say(&own);
}

static int with_graph(const struct context *c, struct options *o, bool (*work)(struct loaded *, const struct options *))
{
    struct loaded l = {0};
    o->began_ns = now_ns();
    struct graph_file *file = graph_file_read(o->graph);
    fusion_session *session = file ? connect_for(c, o, file) : NULL;
    if (file) o->finalize.bounds |= file->bounds;
    bool ok = session && loaded_open(&l, session, file) && work(&l, o);
    loaded_close(&l);
    fusion_disconnect(session);
    graph_file_free(file);
    return ok ? 0 : 1;
}

static int run_saved(const struct context *c, struct options *o)
{
    struct loaded l = {0};
    struct graph_file *file = NULL;
    if (o->compare) {
        complain("run", "invalid", "--compare finalizes twice, and %s is finalized already", o->graph);
        return 2;
    }
    o->began_ns = now_ns();
    fusion_session *session = connect_for(c, o, NULL);
    bool ok =
        session && saved_open(&l, session, o->graph, o->has_finalize ? &o->finalize : NULL, &file) && run_graph(&l, o);
    loaded_close(&l);
    fusion_disconnect(session);
    graph_file_free(file);
    return ok ? 0 : 1;
}

int command_run(const struct context *c, int argc, char **argv)
{
    struct options o;
    if (!options_parse(argc, argv, &o)) return 2;
    return saved_is(o.graph) ? run_saved(c, &o) : with_graph(c, &o, run_graph);
}

int command_explain(const struct context *c, int argc, char **argv)
{
    struct options o;
    if (!options_parse(argc, argv, &o)) return 2;
    return with_graph(c, &o, explain_graph);
}

int command_tune(const struct context *c, int argc, char **argv)
{
    struct options o;
    if (!options_parse(argc, argv, &o)) return 2;
    return with_graph(c, &o, tune);
}

static bool is_graph(const char *path)
{
    const char *end = strrchr(path, '.');
    return end && (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0);
}

int command_bundle(const struct context *c, int argc, char **argv)
{
    (void)c;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            return usage_of(argc, argv, "[--extract FOLDER] BUNDLE", (const char *const[]){"--extract", NULL});
    return bundle_command(argc, argv);
}

int command_compile(const struct context *c, int argc, char **argv)
{
    struct options o;
    if (ahead_is_asked(argc, argv)) return ahead_command(argc, argv);
    if (!options_parse(argc, argv, &o)) return 2;
    if (!o.compile.spirv && !(o.save && is_graph(o.graph))) {
        options_usage(argv[0]);
        return 2;
    }
    if (!is_graph(o.graph)) return compile_module(o.graph, &o.compile) ? 0 : 1;
    return with_graph(c, &o, compile_graph);
}
