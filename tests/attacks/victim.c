/* The victim: a client that submits something small again and again, and now and then finalizes something new. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/attacks/arena.h"

enum { SUBMITS = 300, FINALIZES = 3, SIZE = 64 };
enum { PAUSE_US = 500 }; /* between submissions: the executor has gone to sleep */

struct victim {
    const char *socket;
    fusion_session *session;
    fusion_exec *exec;
    fusion_buffer *out;
    unsigned factor, kernels; /* of its own kernel; of the last one made: each is new to the daemon */
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int smaller_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A graph of one kernel that nobody has compiled: out[i] = i * its number. */
static fusion_status finalize_new(struct victim *v, fusion_session *session, fusion_exec **exec, fusion_buffer **out)
{
    char text[400];
    fusion_module *module;
    fusion_graph *graph;
    fusion_status status;
    snprintf(text, sizeof text,
             "kernel @k(%%o: ptr.global i32 write) {\n  %%i = global_id x\n  %%n = trunc i32 %%i\n"
             "  %%v = mul i32 %%n, %u\n  store i32 %%o[%%i], %%v\n  return\n}\n",
             ++v->kernels);
    if ((status = fusion_module_load(session, "victim.fk", text, strlen(text), &module)) ||
        (status = fusion_buffer_create(session, "out", FUSION_I32, SIZE, 0, out)) ||
        (status = fusion_graph_create(session, &graph)))
        return status;
    fusion_arg args[] = {fusion_arg_write(*out)};
    fusion_kernel_node node = {.module = module, .kernel = "k", .dims = 1, .global = {SIZE}, .n_args = 1, .args = args};
    if ((status = fusion_graph_add_kernel(graph, &node, NULL))) return status;
    return fusion_graph_finalize(graph, NULL, exec);
}

static fusion_status submit(struct victim *v)
{
    fusion_event event;
    fusion_status status = fusion_exec_submit(v->exec, NULL, 0, &event);
    return status ? status : fusion_event_wait(v->session, event, 20000, NULL);
}

static bool values_right(struct victim *v)
{
    void *memory;
    if (fusion_buffer_map(v->out, &memory)) return false;
    for (unsigned i = 0; i < SIZE; i++)
        if (((int32_t *)memory)[i] != (int32_t)(i * v->factor)) return false;
    memset(memory, 0, SIZE * sizeof(int32_t));
    return true;
}

static void keep_slowest(struct victim_times *t, double ms)
{
    if (ms > t->slowest_ms) t->slowest_ms = ms;
}

static fusion_status measure_submits(struct victim *v, struct victim_times *t)
{
    double times[SUBMITS];
    for (int i = 0; i < SUBMITS; i++) {
        double start = now_ms();
        fusion_status status = submit(v);
        if (status) return status;
        times[i] = now_ms() - start;
        if (!values_right(v)) return FUSION_INTERNAL;
        usleep(PAUSE_US);
    }
    qsort(times, SUBMITS, sizeof *times, smaller_first);
    t->submit_p99_ms = times[SUBMITS * 99 / 100];
    keep_slowest(t, times[SUBMITS - 1]);
    return FUSION_SUCCESS;
}

/* Each in a session of its own: a newcomer is served as well. */
static fusion_status measure_finalizes(struct victim *v, struct victim_times *t)
{
    double times[FINALIZES];
    for (int i = 0; i < FINALIZES; i++) {
        fusion_session *session;
        fusion_buffer *out;
        fusion_exec *exec;
        double start = now_ms();
        fusion_status status = fusion_connect(v->socket, NULL, &session);
        if (status) return status;
        status = finalize_new(v, session, &exec, &out);
        times[i] = now_ms() - start;
        if (status) return status;
        fusion_disconnect(session);
    }
    qsort(times, FINALIZES, sizeof *times, smaller_first);
    t->finalize_ms = times[FINALIZES / 2];
    keep_slowest(t, times[FINALIZES - 1]);
    return FUSION_SUCCESS;
}

static fusion_status begin(struct victim *v)
{
    fusion_status status = fusion_connect(v->socket, NULL, &v->session);
    return status ? status : finalize_new(v, v->session, &v->exec, &v->out);
}

_Noreturn void victim_run(const char *socket, int in, int out)
{
    struct victim v = {.socket = socket, .kernels = (unsigned)getpid() * 1000};
    v.factor = v.kernels + 1;
    fusion_status status = begin(&v);
    for (char byte; read(in, &byte, 1) == 1;) {
        struct victim_times t = {0};
        if (!status) status = measure_submits(&v, &t);
        if (!status) status = measure_finalizes(&v, &t);
        t.failed = status != FUSION_SUCCESS;
        if (t.failed)
            snprintf(t.failure, sizeof t.failure, "%s: %.64s: %.256s", fusion_status_name(status),
                     fusion_last_error()->object, fusion_last_error()->reason);
        if (write(out, &t, sizeof t) != sizeof t) break;
    }
    _exit(0);
}
