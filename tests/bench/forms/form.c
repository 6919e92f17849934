/* Runs a form: ours through the service, each peer in its own memory for results, all on the same inputs. */
#include "tests/bench/forms/form.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/forms/traffic.h"
#include "tests/bench/measure.h"
#include "tests/bench/numexpr.h"
#include "tests/bench/opencl.h"
#include "tests/bench/processor.h"
#include "tests/bench/work.h"

enum { MOST_MEMORY = 64 };
enum { OURS, OWN, UNFUSED, C, POCL, NUMEXPR, MEMORY, WAYS };

/* A handle of ours, and where it puts its results. */
struct handle {
    fusion_session *session;
    fusion_exec *exec;
};

struct c_way {
    const struct form *form;
    void *const *memory;
};

struct running {
    const struct form *form;
    fusion_buffer *buffers[MOST_MEMORY];
    void *memory[WAYS][MOST_MEMORY]; /* inputs: everybody's; results: of each */
    struct handle handles[UNFUSED + 1];
    struct c_way c;
    struct traffic traffic;
    char *source;
    struct opencl_memory opencl_memory[MOST_MEMORY];
    struct opencl_work opencl_work;
    struct opencl *opencl;
    struct peer_data numexpr_data;
    struct numexpr *numexpr;
    struct contender ways[WAYS];
};

/* ---- inputs ---- */

static uint32_t scrambled(size_t i)
{
    uint32_t x = (uint32_t)i * 2654435761u;
    return x ^ x >> 15;
}

void form_fill_unit(void *memory, size_t count)
{
    for (size_t i = 0; i < count; i++) ((float *)memory)[i] = (float)(scrambled(i) >> 8) / (1 << 24);
}

void form_fill_signed(void *memory, size_t count)
{
    form_fill_unit(memory, count);
    for (size_t i = 0; i < count; i++) ((float *)memory)[i] = 2 * ((float *)memory)[i] - 1;
}

void form_fill_bytes(void *memory, size_t count)
{
    for (size_t i = 0; i < count; i++) ((uint8_t *)memory)[i] = (uint8_t)(scrambled(i) >> 13);
}

void form_fill_small(void *memory, size_t count)
{
    for (size_t i = 0; i < count; i++) ((int32_t *)memory)[i] = (int32_t)(scrambled(i) >> 13 & 63);
}

/* ---- memory ---- */

static void make_memory(fusion_session *s, struct running *r)
{
    static const fusion_type types[] = {[FORM_F32] = FUSION_F32, [FORM_I32] = FUSION_I32, [FORM_U8] = FUSION_U8};
    for (unsigned i = 0; i < r->form->n_memory; i++) {
        const struct form_memory *m = &r->form->memory[i];
        unsigned properties = m->role == FORM_BETWEEN ? FUSION_INTERNAL_MEMORY | FUSION_NO_INIT : 0;
        bench_check(fusion_buffer_create(s, NULL, types[m->type], m->count, properties, &r->buffers[i]));
        if (m->role == FORM_BETWEEN) continue;
        bench_check(fusion_buffer_map(r->buffers[i], &r->memory[OURS][i]));
        if (m->role == FORM_INPUT) m->fill(r->memory[OURS][i], m->count);
        for (int way = C; way < WAYS; way++) {
            size_t bytes = (form_bytes(m) + 4095) / 4096 * 4096;
            r->memory[way][i] = m->role == FORM_INPUT ? r->memory[OURS][i] : aligned_alloc(4096, bytes);
            if (!r->memory[way][i]) exit(1);
            if (m->role == FORM_RESULT) memset(r->memory[way][i], 0, bytes);
        }
    }
}

static void free_memory(struct running *r)
{
    for (unsigned i = 0; i < r->form->n_memory; i++) {
        if (r->form->memory[i].role == FORM_RESULT)
            for (int way = C; way < WAYS; way++) free(r->memory[way][i]);
        fusion_buffer_destroy(r->buffers[i]);
    }
}

/* ---- ours ---- */

static fusion_arg service_argument(const struct running *r, const struct launch_arg *arg)
{
    switch (arg->kind) {
    case ARG_READ: return fusion_arg_read(r->buffers[arg->number]);
    case ARG_WRITE: return fusion_arg_write(r->buffers[arg->number]);
    case ARG_INT: return fusion_arg_i32(arg->number);
    case ARG_FLOAT: return fusion_arg_f32(arg->real);
    case ARG_LOCAL: return fusion_arg_local((size_t)arg->number);
    default: return fusion_arg_read_write(r->buffers[arg->number]);
    }
}

static void add_launch(const struct running *r, fusion_graph *g, fusion_module *m, const struct launch *l)
{
    fusion_arg args[LAUNCH_MOST_ARGS];
    fusion_kernel_node node = {.module = m, .kernel = l->kernel, .dims = l->dims, .args = args};
    for (unsigned d = 0; d < l->dims; d++) {
        node.global[d] = l->global[d];
        node.local[d] = l->local[d];
    }
    for (; node.n_args < LAUNCH_MOST_ARGS && l->args[node.n_args].kind; node.n_args++)
        args[node.n_args] = service_argument(r, &l->args[node.n_args]);
    bench_check(fusion_graph_add_kernel(g, &node, NULL));
}

static fusion_graph *make_graph(fusion_session *s, const struct running *r)
{
    char path[512];
    fusion_module *m;
    fusion_graph *g;
    snprintf(path, sizeof path, "%s/%s.spv", BENCH_MODULES, r->form->kernels);
    bench_check(fusion_module_load_file(s, path, &m));
    bench_check(fusion_graph_create(s, &g));
    for (unsigned k = 0; k < r->form->n_launches; k++) add_launch(r, g, m, &r->form->launches[k]);
    return g;
}

static bool run_handle(void *self, unsigned repeat, double *ms)
{
    const struct handle *h = self;
    double start = measure_now_ms();
    for (unsigned i = 0; i < repeat; i++) {
        fusion_event event;
        bench_check(fusion_exec_submit(h->exec, NULL, 0, &event));
        bench_check(fusion_event_wait(h->session, event, -1, NULL));
    }
    *ms = (measure_now_ms() - start) / repeat;
    return true;
}

static void make_handle(fusion_session *s, struct running *r, int way, const char *name, fusion_graph *g,
                        fusion_mode mode)
{
    r->handles[way].session = s;
    const fusion_finalize_options options = {.mode = mode, .tier = FUSION_TIER_COMPILED};
    bench_check(fusion_graph_finalize(g, &options, &r->handles[way].exec));
    r->ways[way] = (struct contender){name, run_handle, &r->handles[way], false};
}

static void make_ours(fusion_session *s, struct running *r)
{
    fusion_graph *g = make_graph(s, r);
    r->ways[OWN].absent = r->ways[UNFUSED].absent = true;
    make_handle(s, r, OURS, "ours", g, FUSION_ENABLE);
    if (r->form->n_launches > 1) make_handle(s, r, UNFUSED, "unfused", g, FUSION_NONE);
    fusion_graph_destroy(g);
    if (!r->form->own) return;
    g = r->form->own(s, r->buffers);
    make_handle(s, r, OWN, "own language", g, FUSION_ENABLE);
    fusion_graph_destroy(g);
}

/* ---- the peers ---- */

static bool run_c(void *self, unsigned repeat, double *ms)
{
    const struct c_way *c = self;
    double start = measure_now_ms();
    for (unsigned i = 0; i < repeat; i++) c->form->c(c->memory);
    *ms = (measure_now_ms() - start) / repeat;
    return true;
}

static char *read_source(const char *kernels)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.cl", BENCH_SOURCES, kernels);
    FILE *in = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    if (!in || !text || !fread(text, 1, (1 << 16) - 1, in)) perror(path), exit(1);
    fclose(in);
    return text;
}

static void make_opencl(struct running *r)
{
    const struct form *f = r->form;
    const char *why;
    for (unsigned i = 0; i < f->n_memory; i++)
        r->opencl_memory[i] =
            (struct opencl_memory){r->memory[POCL][i], form_bytes(&f->memory[i]), f->memory[i].role == FORM_RESULT};
    r->source = read_source(f->kernels);
    r->opencl_work = (struct opencl_work){r->source, f->launches, f->n_launches, r->opencl_memory, f->n_memory};
    r->opencl = opencl_open(&r->opencl_work, &why);
    if (!r->opencl) printf("    (no pocl: %s)\n", why);
    r->ways[POCL] = (struct contender){"pocl", opencl_run, r->opencl, !r->opencl};
}

static void make_numexpr(struct running *r)
{
    unsigned n_in = 0, n_out = 0;
    r->ways[NUMEXPR].absent = true;
    if (!r->form->numexpr || processor_used()) return;
    for (unsigned i = 0; i < r->form->n_memory; i++) {
        const struct form_memory *m = &r->form->memory[i];
        r->numexpr_data.columns = m->count;
        if (m->role == FORM_INPUT) r->numexpr_data.in[n_in++] = r->memory[NUMEXPR][i];
        if (m->role == FORM_RESULT) r->numexpr_data.out[n_out++] = r->memory[NUMEXPR][i];
    }
    r->numexpr = numexpr_open(NUMEXPR_SCRIPT, r->form->numexpr, &r->numexpr_data, n_in, n_out);
    if (!r->numexpr) printf("    (no numexpr: python3-numexpr is not installed)\n");
    r->ways[NUMEXPR] = (struct contender){"numexpr", numexpr_run, r->numexpr, !r->numexpr};
}

/* ---- results ---- */

static double number_at(const void *memory, enum form_type type, size_t i)
{
    switch (type) {
    case FORM_F32: return ((const float *)memory)[i];
    case FORM_I32: return ((const int32_t *)memory)[i];
    default: return ((const uint8_t *)memory)[i];
    }
}

static double difference(const struct form *f, const struct form_memory *m, const void *a, const void *b)
{
    size_t differ = 0;
    double worst = 0;
    for (size_t i = 0; i < m->count; i++) {
        double x = number_at(a, m->type, i), y = number_at(b, m->type, i), d = fabs(x - y) / fmax(1, fabs(y));
        differ += x != y;
        if (!(d <= worst)) worst = d;
    }
    return f->counts ? (double)differ / (double)m->count : worst;
}

/* Who gives other results does other work: its time says nothing. */
static void compare(const struct running *r, int way, void *const *memory)
{
    const struct form *f = r->form;
    for (unsigned i = 0; i < f->n_memory; i++) {
        if (f->memory[i].role != FORM_RESULT) continue;
        double d = difference(f, &f->memory[i], memory[i], r->memory[C][i]);
        if (d <= f->bound) continue;
        fprintf(stderr, "bench: %s: %s differs from %s by %g, more than %g\n", f->title, r->ways[way].name,
                f->c ? "C" : "unfused", d, f->bound);
        exit(1);
    }
}

/* In place of C's results, where there is no C. */
static void take_unfused(struct running *r)
{
    double ms;
    run_handle(&r->handles[UNFUSED], 1, &ms);
    for (unsigned i = 0; i < r->form->n_memory; i++)
        if (r->form->memory[i].role == FORM_RESULT)
            memcpy(r->memory[C][i], r->memory[OURS][i], form_bytes(&r->form->memory[i]));
}

/* All of ours write the same buffers. */
static void compare_all(struct running *r)
{
    double ms;
    if (r->numexpr) numexpr_results(r->numexpr, &r->numexpr_data);
    if (!r->form->c) take_unfused(r);
    for (int way = 0; way < MEMORY; way++) {
        if (r->ways[way].absent || way == C) continue;
        if (way <= UNFUSED) {
            for (unsigned i = 0; i < r->form->n_memory; i++)
                if (r->form->memory[i].role == FORM_RESULT)
                    memset(r->memory[OURS][i], 0, form_bytes(&r->form->memory[i]));
            run_handle(&r->handles[way], 1, &ms);
        }
        compare(r, way, r->memory[way <= UNFUSED ? OURS : way]);
    }
}

/* ---- one form ---- */

static void add_report(const struct running *r, json_object *row)
{
    const fusion_report *report = fusion_exec_report(r->handles[OURS].exec);
    printf("    (%u kernels, %u launches, finalized in %.0f ms)\n", r->form->n_launches, report->launches,
           report->compile_ms);
    json_object_object_add(row, "form", json_object_new_string(r->form->work));
    json_object_object_add(row, "pipeline", json_object_new_boolean(r->form->pipeline));
    json_object_object_add(row, "kernels", json_object_new_int((int)r->form->n_launches));
    json_object_object_add(row, "launches", json_object_new_int((int)report->launches));
    json_object_object_add(row, "finalize_ms", json_object_new_double(report->compile_ms));
}

void form_measure(fusion_session *s, const struct form *f, json_object *rows)
{
    struct running r = {.form = f};
    make_memory(s, &r);
    make_ours(s, &r);
    processor_watch(s);
    r.c = (struct c_way){f, r.memory[C]};
    r.ways[C] = (struct contender){"c", run_c, &r.c, !f->c};
    make_opencl(&r);
    make_numexpr(&r);
    r.traffic = (struct traffic){f, r.memory[MEMORY]};
    r.ways[MEMORY] = (struct contender){"memory", traffic_run, &r.traffic, !f->memory_bound};
    add_report(&r, measure_work(f->title, r.ways, WAYS, f->repeat, rows));
    compare_all(&r);
    opencl_close(r.opencl);
    numexpr_close(r.numexpr);
    free(r.source);
    for (int way = OURS; way <= UNFUSED; way++)
        if (r.handles[way].exec) fusion_exec_destroy(r.handles[way].exec);
    free_memory(&r);
}
