/* Runs one work: ours through the service, each peer in its own memory for results, all on the same inputs. */
#include "tests/bench/work.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/measure.h"
#include "tests/bench/numexpr.h"
#include "tests/bench/opencl.h"
#include "tests/bench/processor.h"

void bench_check(fusion_status status)
{
    if (status == FUSION_SUCCESS) return;
    const fusion_error *e = fusion_last_error();
    fprintf(stderr, "bench: %s: %s: %s\n", fusion_status_name(status), e->object, e->reason);
    exit(1);
}

/* ---- the ways ---- */

struct service {
    fusion_session *session;
    fusion_exec *exec;
};

static bool run_service(void *self, unsigned repeat, double *ms)
{
    const struct service *s = self;
    double start = measure_now_ms();
    for (unsigned i = 0; i < repeat; i++) {
        fusion_event event;
        bench_check(fusion_exec_submit(s->exec, NULL, 0, &event));
        bench_check(fusion_event_wait(s->session, event, -1, NULL));
    }
    *ms = (measure_now_ms() - start) / repeat;
    return true;
}

struct c_peer {
    peer_fn *run;
    struct peer_data data;
};

static bool run_c(void *self, unsigned repeat, double *ms)
{
    const struct c_peer *p = self;
    double start = measure_now_ms();
    for (unsigned i = 0; i < repeat; i++) p->run(&p->data);
    *ms = (measure_now_ms() - start) / repeat;
    return true;
}

/* ---- results ---- */

static double difference(const struct work *w, const void *ours, const void *theirs)
{
    const float *a = ours, *b = theirs;
    const int32_t *x = ours, *y = theirs;
    size_t differ = 0;
    double worst = 0;
    for (size_t i = 0; i < w->out_count; i++) {
        if (w->counts)
            differ += x[i] != y[i];
        else
            worst = fmax(worst, fabs((double)a[i] - b[i]) / fmax(1, fabs((double)b[i])));
    }
    return w->counts ? (double)differ / (double)w->out_count : worst;
}

/* A peer whose results are others does other work: its time says nothing. */
static void compare(const struct work *w, const struct peer_data *ours, const char *name,
                    const struct peer_data *theirs)
{
    for (unsigned i = 0; i < w->n_out; i++) {
        double d = difference(w, ours->out[i], theirs->out[i]);
        if (d <= w->bound) continue;
        fprintf(stderr, "bench: %s: %s differs from ours by %g, more than %g\n", w->name, name, d, w->bound);
        exit(1);
    }
}

static void make_results(const struct work *w, struct peer_data *d)
{
    for (unsigned i = 0; i < w->n_out; i++) {
        d->out[i] = aligned_alloc(4096, (w->out_count * 4 + 4095) / 4096 * 4096);
        if (!d->out[i]) exit(1);
        memset(d->out[i], 0, w->out_count * 4);
    }
}

static void free_results(const struct work *w, struct peer_data *d)
{
    for (unsigned i = 0; i < w->n_out; i++) free(d->out[i]);
}

/* ---- one work ---- */

enum { MOST_BUFFERS = 5 };
enum { OURS, UNFUSED, C_FUSED, C_FUSED_FAST, C_VECTOR, POCL, NUMEXPR, WAYS };

struct running {
    const struct work *work;
    struct work_buffers buffers;
    struct service fused, unfused;
    struct peer_data ours, results[WAYS]; /* ours: in the buffers */
    struct c_peer c[WAYS];
    struct launch launch;
    struct opencl_memory memory[MOST_BUFFERS];
    struct opencl_work opencl_work;
    struct opencl *opencl;
    struct numexpr *numexpr;
    struct contender ways[WAYS];
};

static void make_buffers(fusion_session *s, struct running *r)
{
    const struct work *w = r->work;
    fusion_type type = w->counts ? FUSION_I32 : FUSION_F32;
    r->ours = (struct peer_data){.rows = w->rows, .columns = w->columns};
    for (unsigned i = 0; i < w->n_in; i++) {
        void *memory;
        bench_check(fusion_buffer_create(s, NULL, FUSION_F32, w->in_count[i], 0, &r->buffers.in[i]));
        bench_check(fusion_buffer_map(r->buffers.in[i], &memory));
        for (size_t k = 0; k < w->in_count[i]; k++) ((float *)memory)[k] = w->input(i, k);
        r->ours.in[i] = memory;
    }
    for (unsigned i = 0; i < w->n_out; i++) {
        bench_check(fusion_buffer_create(s, NULL, type, w->out_count, 0, &r->buffers.out[i]));
        bench_check(fusion_buffer_map(r->buffers.out[i], &r->ours.out[i]));
    }
}

static void make_ours(fusion_session *s, struct running *r)
{
    fusion_graph *g = r->work->graph(s, r->work, &r->buffers);
    r->fused.session = r->unfused.session = s;
    bench_check(fusion_graph_finalize(
        g, &(fusion_finalize_options){.mode = FUSION_REQUIRE, .tier = FUSION_TIER_COMPILED}, &r->fused.exec));
    r->ways[OURS] = (struct contender){"ours", run_service, &r->fused, false};
    r->ways[UNFUSED] = (struct contender){"unfused", run_service, &r->unfused, !r->work->unfused};
    if (r->work->unfused)
        bench_check(
            fusion_graph_finalize(g, &(fusion_finalize_options){.tier = FUSION_TIER_COMPILED}, &r->unfused.exec));
    fusion_graph_destroy(g);
}

static void make_c(struct running *r, int way, const char *name, peer_fn *run)
{
    r->c[way] = (struct c_peer){run, r->results[way]};
    r->ways[way] = (struct contender){name, run_c, &r->c[way], !run};
}

/* One fused kernel, which takes the inputs, then the outputs. */
static void make_opencl(struct running *r)
{
    const struct work *w = r->work;
    const char *why;
    unsigned n = 0;
    r->ways[POCL].absent = true;
    if (!w->opencl.source) return;
    r->launch = w->opencl.launch;
    for (unsigned i = 0; i < w->n_in; i++, n++) {
        r->memory[n] = (struct opencl_memory){(void *)r->results[POCL].in[i], w->in_count[i] * 4, false};
        r->launch.args[n] = (struct launch_arg)READ((int32_t)n);
    }
    for (unsigned i = 0; i < w->n_out; i++, n++) {
        r->memory[n] = (struct opencl_memory){r->results[POCL].out[i], w->out_count * 4, true};
        r->launch.args[n] = (struct launch_arg)WRITE((int32_t)n);
    }
    r->opencl_work = (struct opencl_work){w->opencl.source, &r->launch, 1, r->memory, n};
    r->opencl = opencl_open(&r->opencl_work, &why);
    if (!r->opencl) printf("    (no pocl: %s)\n", why);
    r->ways[POCL] = (struct contender){"pocl", opencl_run, r->opencl, !r->opencl};
}

static void make_numexpr(struct running *r)
{
    const struct work *w = r->work;
    r->ways[NUMEXPR].absent = true;
    if (!w->numexpr || processor_used()) return;
    r->numexpr = numexpr_open(NUMEXPR_SCRIPT, w->numexpr, &r->results[NUMEXPR], w->n_in, w->n_out);
    if (!r->numexpr) printf("    (no numexpr: python3-numexpr is not installed)\n");
    r->ways[NUMEXPR] = (struct contender){"numexpr", numexpr_run, r->numexpr, !r->numexpr};
}

static void run_all(struct running *r, json_object *rows)
{
    measure_work(r->work->name, r->ways, WAYS, r->work->repeat, rows);
    if (r->numexpr) numexpr_results(r->numexpr, &r->results[NUMEXPR]);
    for (int i = C_FUSED; i < WAYS; i++)
        if (!r->ways[i].absent) compare(r->work, &r->ours, r->ways[i].name, &r->results[i]);
}

void work_measure(fusion_session *s, const struct work *w, json_object *rows)
{
    struct running r = {.work = w};
    make_buffers(s, &r);
    make_ours(s, &r);
    processor_watch(s);
    for (int i = C_FUSED; i < WAYS; i++) {
        r.results[i] = r.ours;
        make_results(w, &r.results[i]);
    }
    make_c(&r, C_FUSED, "c_fused", w->c_strict);
    make_c(&r, C_FUSED_FAST, "c_fused_fast", w->c_fast);
    make_c(&r, C_VECTOR, "c_vector", w->c_vector);
    make_opencl(&r);
    make_numexpr(&r);
    run_all(&r, rows);
    opencl_close(r.opencl);
    numexpr_close(r.numexpr);
    for (int i = C_FUSED; i < WAYS; i++) free_results(w, &r.results[i]);
    fusion_exec_destroy(r.fused.exec);
    if (r.unfused.exec) fusion_exec_destroy(r.unfused.exec);
    for (unsigned i = 0; i < w->n_in; i++) fusion_buffer_destroy(r.buffers.in[i]);
    for (unsigned i = 0; i < w->n_out; i++) fusion_buffer_destroy(r.buffers.out[i]);
}
