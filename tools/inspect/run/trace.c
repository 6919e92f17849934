/* The format is Chrome's "Trace Event Format": complete events (X) with microseconds, metadata events (M) for names. */
#include "tools/inspect/run/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <json.h>
#include <stdio.h>
#include <string.h>

#include "tools/inspect/run/profile.h"
#include "tools/inspect/terminal/complain.h"

/* Who did it: a row of the picture each. */
enum row { ROW_CLIENT = 1, ROW_QUEUE, ROW_COMPILERS, ROW_EXECUTOR };

struct trace {
    json_object *events;
    uint64_t zero_ns;
};

static void add_name(struct trace *t, enum row row, const char *name)
{
    json_object *o = json_object_new_object(), *args = json_object_new_object();
    json_object_object_add(args, "name", json_object_new_string(name));
    json_object_object_add(o, "ph", json_object_new_string("M"));
    json_object_object_add(o, "name", json_object_new_string("process_name"));
    json_object_object_add(o, "pid", json_object_new_int(row));
    json_object_object_add(o, "args", args);
    json_object_array_add(t->events, o);
}

static json_object *microseconds(uint64_t ns)
{
    char text[40];
    snprintf(text, sizeof text, "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
    return json_object_new_double_s((double)ns / 1e3, text);
}

/* args NULL: none. */
static void add_event(struct trace *t, enum row row, int thread, const char *name, uint64_t began, uint64_t ended,
                      json_object *args)
{
    json_object *o = json_object_new_object();
    if (began < t->zero_ns) began = t->zero_ns;
    if (ended < began) ended = began;
    json_object_object_add(o, "ph", json_object_new_string("X"));
    json_object_object_add(o, "name", json_object_new_string(name));
    json_object_object_add(o, "pid", json_object_new_int(row));
    json_object_object_add(o, "tid", json_object_new_int(thread));
    json_object_object_add(o, "ts", microseconds(began - t->zero_ns));
    json_object_object_add(o, "dur", microseconds(ended - began));
    if (args) json_object_object_add(o, "args", args);
    json_object_array_add(t->events, o);
}

static void add_span(struct trace *t, enum row row, const char *name, uint64_t began, uint64_t ended, json_object *args)
{
    add_event(t, row, row, name, began, ended, args);
}

static json_object *finalize_args(const fusion_report *r)
{
    json_object *args = json_object_new_object();
    json_object_object_add(args, "launches", json_object_new_int64(r->launches));
    json_object_object_add(args, "cache", json_object_new_string(r->cache));
    return args;
}

static json_object *step_args(const fusion_exec *exec, const fusion_step_time *time)
{
    const fusion_report *r = fusion_exec_report(exec);
    json_object *args = json_object_new_object(), *nodes = json_object_new_array();
    for (uint32_t i = time->step; i < time->step + time->n_steps && i < r->n_steps; i++) {
        const fusion_group *g = r->steps[i].is_group ? &r->groups[r->steps[i].index] : NULL;
        for (uint32_t k = 0; g && k < g->n_nodes; k++)
            json_object_array_add(nodes, json_object_new_string(fusion_exec_node_name(exec, g->nodes[k])));
    }
    json_object_object_add(args, "nodes", nodes);
    return args;
}

/* Rows overlap where several compilers work: each launch has a thread of its own there. */
static void add_job(struct trace *t, const fusion_report *r, const fusion_job *job)
{
    char name[200] = "plan";
    if (job->group >= 0) snprintf(name, sizeof name, "code of %s", r->groups[job->group].kernel);
    if (job->began_ns > job->waited_ns)
        add_event(t, ROW_QUEUE, job->group + 1, name, job->waited_ns, job->began_ns, NULL);
    add_event(t, ROW_COMPILERS, job->group + 1, name, job->began_ns, job->ended_ns, NULL);
}

static void add_run(struct trace *t, const struct runs *r, uint32_t index)
{
    const struct run *run = &r->runs[index];
    char name[200];
    snprintf(name, sizeof name, "run %" PRIu32, index + 1);
    add_span(t, ROW_CLIENT, name, run->submitted_ns, run->ended_ns, NULL);
    for (uint32_t i = run->first_time; i < run->first_time + run->n_times; i++) {
        const fusion_step_time *time = &r->times[i];
        profile_step_name(r->exec, time->step, time->n_steps, name, sizeof name);
        add_span(t, ROW_EXECUTOR, name, time->began_ns, time->ended_ns, step_args(r->exec, time));
    }
}

bool trace_write(const char *path, const struct runs *r, const struct trace_spans *before, const char *device)
{
    struct trace t = {json_object_new_array(), before->load_ns};
    char executor[100];
    snprintf(executor, sizeof executor, "executor (%s)", device ? device : "cpu");
    add_name(&t, ROW_CLIENT, "client");
    add_name(&t, ROW_QUEUE, "service: jobs that wait for a compiler");
    add_name(&t, ROW_COMPILERS, "compilers");
    add_name(&t, ROW_EXECUTOR, executor);
    add_span(&t, ROW_CLIENT, "load modules, record the graph", before->load_ns, before->finalize_ns, NULL);
    add_span(&t, ROW_CLIENT, "finalize", before->finalize_ns, before->finalized_ns,
             finalize_args(fusion_exec_report(r->exec)));
    const fusion_report *report = fusion_exec_report(r->exec);
    for (uint32_t i = 0; i < report->n_jobs; i++) add_job(&t, report, &report->jobs[i]);
    for (uint32_t i = 0; i < r->n; i++) add_run(&t, r, i);
    json_object *root = json_object_new_object();
    json_object_object_add(root, "traceEvents", t.events);
    json_object_object_add(root, "displayTimeUnit", json_object_new_string("ns"));
    bool ok = json_object_to_file_ext(path, root, JSON_C_TO_STRING_NOSLASHESCAPE) == 0;
    if (!ok) complain_at(path, 0, 0, "%s", strerror(errno));
    json_object_put(root);
    return ok;
}
