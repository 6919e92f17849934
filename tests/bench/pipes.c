/*
 * Host pipes: packets one at a time host -> kernel -> host, spans against memcpy, one packet there and back, what
 * waiting takes. `bench_pipes [PACKETS]`, with $FUSIOND; figures are in docs/pipes.md.
 */
#include <fusiond/pipe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 2000, SPAN_WORDS = 16384, SPANS = 2000 };

static const char text[] = "pipe @in: packet i32 capacity 65536 host_access \"in\"\n"
                           "pipe @out: packet i32 capacity 65536 host_access \"out\"\n"
                           "pipe @wide_in: packet [65536 x i8] capacity 16 host_access \"wide in\"\n"
                           "pipe @wide_out: packet [65536 x i8] capacity 16 host_access \"wide out\"\n"
                           "kernel @pass(%n: i32) {\n"
                           "  %in = global @in\n  %out = global @out\n  %w = var i32\n"
                           "  loop (%i: i32 = 0) {\n    %end = sge i32 %i, %n\n    if %end { break }\n"
                           "    pipe_read_wait i32 %in, %w\n    pipe_write_wait i32 %out, %w\n"
                           "    %next = add i32 %i, 1\n    continue %next\n  }\n}\n"
                           "kernel @pass_wide(%n: i32) {\n"
                           "  %in = global @wide_in\n  %out = global @wide_out\n  %w = var [65536 x i8]\n"
                           "  loop (%i: i32 = 0) {\n    %end = sge i32 %i, %n\n    if %end { break }\n"
                           "    pipe_read_wait [65536 x i8] %in, %w\n    pipe_write_wait [65536 x i8] %out, %w\n"
                           "    %next = add i32 %i, 1\n    continue %next\n  }\n}\n";

static fusion_session *session;
static fusion_module *module;

static void check(fusion_status status)
{
    if (status == FUSION_SUCCESS) return;
    fprintf(stderr, "bench_pipes: %s: %s\n", fusion_last_error()->object, fusion_last_error()->reason);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static fusion_pipe *pipe_of(const char *id)
{
    fusion_pipe *p;
    check(fusion_pipe_open(module, id, NULL, &p));
    return p;
}

static fusion_event begin(const char *kernel, int n)
{
    fusion_graph *g;
    fusion_exec *e;
    fusion_event event;
    fusion_arg arg = fusion_arg_i32(n);
    fusion_kernel_node node = {.module = module, .kernel = kernel, .dims = 1, .global = {1}, .n_args = 1, .args = &arg};
    check(fusion_graph_create(session, &g));
    check(fusion_graph_add_kernel(g, &node, NULL));
    check(fusion_graph_finalize(g, &(fusion_finalize_options){.tier = FUSION_TIER_COMPILED}, &e));
    check(fusion_exec_submit(e, NULL, 0, &event));
    return event;
}

struct feeder {
    pthread_t thread;
    fusion_pipe *pipe;
    int n;
};

static void *feed(void *data)
{
    struct feeder *f = data;
    for (int i = 0; i < f->n; i++) check(fusion_pipe_write(f->pipe, &i, 1, -1, NULL));
    return NULL;
}

/* A thread writes and another one reads, both one packet at a time. */
static void packets(int n)
{
    struct feeder f = {.pipe = pipe_of("in"), .n = n};
    fusion_pipe *out = pipe_of("out");
    fusion_event event = begin("pass", n);
    double start = now();
    pthread_create(&f.thread, NULL, feed, &f);
    for (int i = 0; i < n; i++) {
        int v;
        check(fusion_pipe_read(out, &v, 1, -1, NULL));
        if (v != i) {
            fprintf(stderr, "bench_pipes: packet %d is %d\n", i, v);
            exit(1);
        }
    }
    double took = now() - start;
    pthread_join(f.thread, NULL);
    check(fusion_event_wait(session, event, -1, NULL));
    printf("%d packets of 4 bytes, one at a time: %.1f million a second\n", n, n / took * 1e-6);
}

/* The same without threads: what processors spend on a packet, whoever else has them. */
static void packets_in_turns(int n)
{
    enum { TURN = 32768 };
    fusion_pipe *in = pipe_of("in"), *out = pipe_of("out");
    n = (n + TURN - 1) / TURN * TURN;
    fusion_event event = begin("pass", n);
    double host = 0;
    for (int done = 0; done < n; done += TURN) {
        double before = processor_time();
        for (int i = 0; i < TURN; i++) check(fusion_pipe_write(in, &i, 1, -1, NULL));
        host += processor_time() - before;
        uint64_t ready = 0;
        while (ready < TURN) check(fusion_pipe_ready(out, &ready));
        before = processor_time();
        for (int i = 0; i < TURN; i++) {
            int v;
            check(fusion_pipe_read(out, &v, 1, -1, NULL));
            if (v != i) exit(1);
        }
        host += processor_time() - before;
    }
    uint64_t run_ns;
    check(fusion_event_wait(session, event, -1, &run_ns));
    printf("the host's processor time: %.1f ns a packet, written and read\n", host / n * 1e9);
}

/* Spans of 64 kB: filled and read where they lie; beside it the same bytes by memcpy. */
static void spans(void)
{
    static int from[SPAN_WORDS], to[SPAN_WORDS];
    fusion_pipe *in = pipe_of("wide in"), *out = pipe_of("wide out");
    fusion_event event = begin("pass_wide", SPANS);
    double start = now();
    for (int written = 0, taken = 0; taken < SPANS;) {
        void *place;
        uint64_t n;
        bool room = written < SPANS && fusion_pipe_map(in, 1, 0, &place, &n) == FUSION_SUCCESS;
        if (room) {
            memcpy(place, from, sizeof from);
            check(fusion_pipe_unmap(in, 1));
            written++;
        }
        if (fusion_pipe_map(out, 1, room ? 0 : -1, &place, &n) == FUSION_SUCCESS) { /* no room: then some come out */
            memcpy(to, place, sizeof to);
            check(fusion_pipe_unmap(out, 1));
            taken++;
        }
    }
    double took = now() - start;
    check(fusion_event_wait(session, event, -1, NULL));
    double gigabytes = (double)SPANS * sizeof from * 1e-9;
    char *memory = malloc(64 << 20);
    memset(memory, 1, 64 << 20);
    start = now();
    for (int i = 0; i < SPANS; i++)
        memcpy(memory + (size_t)(i % 512) * 65536, memory + (32 << 20) + (size_t)(i * 7 % 512) * 65536, 65536);
    double copied = now() - start;
    free(memory);
    printf("spans of 64 kB through a kernel: %.2f GB/s; memcpy: %.2f GB/s; ratio %.2f\n", gigabytes / took,
           gigabytes / copied, copied / took);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void there_and_back(void)
{
    static double times[ROUNDS];
    fusion_pipe *in = pipe_of("in"), *out = pipe_of("out");
    fusion_event event = begin("pass", ROUNDS);
    for (int i = 0; i < ROUNDS; i++) {
        int v;
        double start = now();
        check(fusion_pipe_write(in, &i, 1, -1, NULL));
        check(fusion_pipe_read(out, &v, 1, -1, NULL));
        times[i] = now() - start;
    }
    check(fusion_event_wait(session, event, -1, NULL));
    qsort(times, ROUNDS, sizeof *times, compare);
    printf("one packet there and back: p50 %.1f us, p90 %.1f us\n", times[ROUNDS / 2] * 1e6,
           times[ROUNDS * 9 / 10] * 1e6);
}

/* The kernel waits for us, and a thread of ours for the kernel. */
static void waiting(void)
{
    int v = 1;
    fusion_event event = begin("pass", 1);
    usleep(50000);
    double before = processor_time();
    fusion_pipe_read(pipe_of("out"), &v, 1, 2000, NULL);
    printf("processor time of the host in 2 s of waiting: %.2f ms\n", (processor_time() - before) * 1e3);
    check(fusion_pipe_write(pipe_of("in"), &v, 1, -1, NULL));
    check(fusion_pipe_read(pipe_of("out"), &v, 1, -1, NULL));
    check(fusion_event_wait(session, event, -1, NULL));
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 10000000;
    check(fusion_connect(NULL, &(fusion_connect_options){.time_limit_ms = 600000}, &session));
    check(fusion_module_load(session, "pipes", text, sizeof text - 1, &module));
    there_and_back();
    packets_in_turns(n / 4);
    packets(n);
    spans();
    waiting();
    fusion_disconnect(session);
}
