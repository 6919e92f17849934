#include "tools/inspect/run/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/terminal/complain.h"
#include "tools/inspect/terminal/numbers.h"
#include "tools/inspect/terminal/style.h"

/* ---- what memory gives ---- */

/* The best of a few copies from one buffer to another. */
static fusion_status time_copies(fusion_session *s, fusion_exec *copy, uint64_t *best)
{
    enum { COPIES = 6 };
    fusion_status status = FUSION_SUCCESS;
    fusion_event event;
    *best = UINT64_MAX;
    for (int i = 0; i < COPIES && status == FUSION_SUCCESS; i++) {
        uint64_t ns;
        status = fusion_exec_submit(copy, NULL, 0, &event);
        if (status == FUSION_SUCCESS) status = fusion_event_wait(s, event, -1, &ns);
        if (status == FUSION_SUCCESS && ns && ns < *best) *best = ns;
    }
    return status;
}

double profile_bandwidth(fusion_session *s, const char *device)
{
    enum { BYTES = 64 << 20 };
    fusion_finalize_options options = {.device = device};
    fusion_buffer *from = NULL, *to = NULL;
    fusion_graph *graph = NULL;
    fusion_exec *copy = NULL;
    uint64_t best = UINT64_MAX;
    fusion_status status = fusion_buffer_create(s, "from", FUSION_BYTES, BYTES, 0, &from);
    if (status == FUSION_SUCCESS) status = fusion_buffer_create(s, "to", FUSION_BYTES, BYTES, 0, &to);
    if (status == FUSION_SUCCESS) status = fusion_graph_create(s, &graph);
    if (status == FUSION_SUCCESS)
        status = fusion_graph_add_copy(graph, "copy", (fusion_memory){.buffer = from}, (fusion_memory){.buffer = to},
                                       BYTES, NULL, 0, NULL);
    if (status == FUSION_SUCCESS) status = fusion_graph_finalize(graph, &options, &copy);
    if (status == FUSION_SUCCESS) status = time_copies(s, copy, &best);
    if (status != FUSION_SUCCESS) print_error("measuring the bandwidth of memory");
    fusion_exec_destroy(copy);
    fusion_graph_destroy(graph);
    fusion_buffer_destroy(from);
    fusion_buffer_destroy(to);
    return status == FUSION_SUCCESS ? 2.0 * BYTES / ((double)best * 1e-9) : 0;
}

/* ---- steps ---- */

/* What ran as one, over all runs. */
struct part {
    uint32_t step, n_steps;
    uint64_t median_ns, bytes, predicted_ns; /* predicted_ns: 0: not known */
};

struct parts {
    uint32_t n;
    struct part *parts;
    uint64_t ns, bytes, predicted_ns; /* of a run */
};

static uint64_t bytes_of(const fusion_report *r, uint32_t step, uint32_t n_steps)
{
    uint64_t bytes = 0;
    for (uint32_t i = step; i < step + n_steps && i < r->n_steps; i++)
        if (r->steps[i].is_group) bytes += r->groups[r->steps[i].index].bytes;
    return bytes;
}

/* 0: of some of its steps it is not known. */
static uint64_t predicted_of(const fusion_report *r, uint32_t step, uint32_t n_steps)
{
    uint64_t ns = 0;
    for (uint32_t i = step; i < step + n_steps && i < r->n_steps; i++) {
        uint64_t own = r->steps[i].is_group && r->predicted_ns ? r->predicted_ns[r->steps[i].index] : 0;
        if (!own) return 0;
        ns += own;
    }
    return ns;
}

static struct part *find_part(struct parts *p, uint32_t step, uint32_t n_steps)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->parts[i].step == step && p->parts[i].n_steps == n_steps) return &p->parts[i];
    return NULL;
}

static uint64_t median_of(const struct runs *r, const struct part *part)
{
    uint64_t *times = calloc(r->n_times, sizeof *times), median = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_times && times; i++)
        if (r->times[i].step == part->step && r->times[i].n_steps == part->n_steps)
            times[n++] = r->times[i].ended_ns - r->times[i].began_ns;
    if (n) {
        qsort(times, n, sizeof *times, compare_times);
        median = times[n / 2];
    }
    free(times);
    return median;
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->step < y->step ? -1 : x->step > y->step;
}

static struct parts find_parts(const struct runs *r)
{
    const fusion_report *report = fusion_exec_report(r->exec);
    struct parts p = {.parts = calloc(r->n_times + 1, sizeof *p.parts)};
    for (uint32_t i = 0; i < r->n_times && p.parts; i++) {
        const fusion_step_time *t = &r->times[i];
        if (find_part(&p, t->step, t->n_steps)) continue;
        p.parts[p.n++] = (struct part){t->step, t->n_steps, 0, bytes_of(report, t->step, t->n_steps),
                                       predicted_of(report, t->step, t->n_steps)};
    }
    for (uint32_t i = 0; i < p.n; i++) {
        p.parts[i].median_ns = median_of(r, &p.parts[i]);
        p.ns += p.parts[i].median_ns;
        p.bytes += p.parts[i].bytes;
        p.predicted_ns += p.parts[i].predicted_ns;
    }
    qsort(p.parts, p.n, sizeof *p.parts, compare_parts);
    return p;
}

const char *profile_step_name(const fusion_exec *exec, uint32_t step, uint32_t n_steps, char *out, size_t size)
{
    const fusion_report *r = fusion_exec_report(exec);
    char more[40] = "";
    if (step >= r->n_steps) {
        snprintf(out, size, "step %" PRIu32, step + 1);
        return out;
    }
    const fusion_step *s = &r->steps[step];
    if (n_steps > 1) snprintf(more, sizeof more, " to %" PRIu32, s->index + n_steps);
    if (s->is_group)
        snprintf(out, size, "launch %" PRIu32 "%s: %s", s->index + 1, more, r->groups[s->index].kernel);
    else
        snprintf(out, size, "node %s", fusion_exec_node_name(exec, s->index));
    return out;
}

/* ---- as text and as JSON ---- */

static void print_part(const char *name, const struct part *p, double share, double bandwidth)
{
    char time[NUMBER_TEXT], predicted[NUMBER_TEXT], size[NUMBER_TEXT], rate[NUMBER_TEXT] = "";
    uint64_t ns = p->median_ns, bytes = p->bytes;
    double per_second = ns ? (double)bytes * 1e9 / (double)ns : 0;
    printf("  %-40.40s %10s %10s %5.1f %% %10s", name, time_text(ns, time),
           p->predicted_ns ? time_text(p->predicted_ns, predicted) : "", 100 * share,
           bytes ? size_text(bytes, size) : "");
    if (bytes && ns) printf(" %8s/s", size_text((uint64_t)per_second, rate));
    if (bytes && ns && bandwidth > 0) printf(" %5.1f %%", 100 * per_second / bandwidth);
    putchar('\n');
}

void profile_print(const struct runs *r, double bandwidth)
{
    struct parts p = find_parts(r);
    char name[200], rate[NUMBER_TEXT];
    printf("%sprofile%s (%s%" PRIu32 " run%s)\n  %-40s %10s %10s %7s %10s %10s %7s\n", style(stdout, STYLE_BOLD),
           style(stdout, STYLE_NONE), r->n > 1 ? "medians of " : "", r->n, r->n > 1 ? "s" : "", "step", "time",
           "predicted", "share", "traffic", "bandwidth", "of all");
    for (uint32_t i = 0; i < p.n; i++) {
        const struct part *part = &p.parts[i];
        print_part(profile_step_name(r->exec, part->step, part->n_steps, name, sizeof name), part,
                   p.ns ? (double)part->median_ns / (double)p.ns : 0, bandwidth);
    }
    struct part all = {.median_ns = p.ns, .bytes = p.bytes, .predicted_ns = p.predicted_ns};
    print_part("all steps", &all, 1, bandwidth);
    if (bandwidth > 0)
        printf("  of all: of the %s/s with which a copy of 64 MiB reads and writes memory; more is the cache's\n",
               size_text((uint64_t)bandwidth, rate));
    free(p.parts);
}

static json_object *number_json(double value, const char *format)
{
    char text[40];
    snprintf(text, sizeof text, format, value);
    return json_object_new_double_s(value, text);
}

static json_object *part_json(const struct runs *r, const struct part *part)
{
    char name[200];
    json_object *o = json_object_new_object();
    profile_step_name(r->exec, part->step, part->n_steps, name, sizeof name);
    json_object_object_add(o, "name", json_object_new_string(name));
    json_object_object_add(o, "step", json_object_new_int64(part->step));
    json_object_object_add(o, "steps", json_object_new_int64(part->n_steps));
    json_object_object_add(o, "ms", number_json((double)part->median_ns / 1e6, "%.6f"));
    if (part->predicted_ns)
        json_object_object_add(o, "predicted_ms", number_json((double)part->predicted_ns / 1e6, "%.6f"));
    json_object_object_add(o, "bytes", json_object_new_int64((int64_t)part->bytes));
    json_object_object_add(
        o, "bytes_per_second",
        number_json(part->median_ns ? (double)part->bytes * 1e9 / (double)part->median_ns : 0, "%.0f"));
    return o;
}

json_object *profile_json(const struct runs *r, double bandwidth)
{
    struct parts p = find_parts(r);
    json_object *o = json_object_new_object(), *list = json_object_new_array();
    for (uint32_t i = 0; i < p.n; i++) json_object_array_add(list, part_json(r, &p.parts[i]));
    json_object_object_add(o, "runs", json_object_new_int64(r->n));
    json_object_object_add(o, "bandwidth", number_json(bandwidth, "%.0f"));
    json_object_object_add(o, "steps", list);
    free(p.parts);
    return o;
}
