/* Small submissions, and how long the 99th of 100 took; or buffers until there is a limit.
     submit N      prints microseconds
     submit fill   prints the error, and tries again until its input ends */
#include <fusiond/fusiond.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char source[] =
    "kernel @scale(%a: ptr.global f32 read, %o: ptr.global f32 write, %k: f32) {\n"
    "  %i = global_id x\n  %x = load f32 %a[%i]\n  %y = fmul f32 %x, %k\n  store f32 %o[%i], %y\n  return\n}\n";

enum { COUNT = 1000 };

static void check(fusion_status status)
{
    if (status == FUSION_SUCCESS) return;
    printf("%s: %s: %s\n", fusion_status_name(status), fusion_last_error()->object, fusion_last_error()->reason);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add_scale(fusion_graph *g, fusion_module *m, fusion_buffer *from, fusion_buffer *to, float factor)
{
    fusion_arg args[] = {fusion_arg_read(from), fusion_arg_write(to), fusion_arg_f32(factor)};
    check(
        fusion_graph_add_kernel(g,
                                &(fusion_kernel_node){FUSION_SIZED(fusion_kernel_node), .module = m, .kernel = "scale",
                                                      .dims = 1, .global = {COUNT}, .n_args = 3, .args = args},
                                NULL));
}

static fusion_exec *make(fusion_session *s, float **in, float **out)
{
    fusion_module *m;
    fusion_graph *g;
    fusion_buffer *b[3];
    fusion_exec *e;
    check(fusion_module_load(s, "scale.fk", source, sizeof source - 1, &m));
    check(fusion_buffer_create(s, "in", FUSION_F32, COUNT, 0, &b[0]));
    check(fusion_buffer_create(s, "t", FUSION_F32, COUNT, FUSION_INTERNAL_MEMORY | FUSION_NO_INIT, &b[1]));
    check(fusion_buffer_create(s, "out", FUSION_F32, COUNT, 0, &b[2]));
    check(fusion_graph_create(s, &g));
    add_scale(g, m, b[0], b[1], 2);
    add_scale(g, m, b[1], b[2], 3);
    check(fusion_graph_finalize(g,
                                &(fusion_finalize_options){FUSION_SIZED(fusion_finalize_options),
                                                           .mode = FUSION_REQUIRE, .tier = FUSION_TIER_COMPILED},
                                &e));
    check(fusion_buffer_map(b[0], (void **)in));
    check(fusion_buffer_map(b[2], (void **)out));
    return e;
}

static int submit(fusion_session *s, int n)
{
    float *in, *out;
    double *times = calloc(n, sizeof *times);
    fusion_exec *e = make(s, &in, &out);
    for (int i = 0; i < n; i++) {
        fusion_event event;
        in[0] = i;
        double began = now();
        check(fusion_exec_submit(e, NULL, 0, &event));
        check(fusion_event_wait(s, event, -1, NULL));
        times[i] = now() - began;
        if (out[0] != 6.0f * i) return printf("%g instead of %g\n", out[0], 6.0 * i), 1;
    }
    qsort(times, n, sizeof *times, compare);
    printf("%.1f\n", times[n * 99 / 100]);
    free(times);
    return 0;
}

static int fill(fusion_session *s)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    fusion_buffer *b;
    fusion_status status;
    int n = 0;
    while ((status = fusion_buffer_create(s, NULL, FUSION_F32, 1000, 0, &b)) == FUSION_SUCCESS && n < 100000) {
        void *memory;
        status = fusion_buffer_map(b, &memory);
        if (status != FUSION_SUCCESS) break;
        n++;
    }
    printf("%s after %d: %s\n", fusion_status_name(status), n, fusion_last_error()->reason);
    fflush(stdout);
    while (poll(&input, 1, 0) == 0)
        if (fusion_buffer_create(s, NULL, FUSION_F32, 1000, 0, &b) == FUSION_SUCCESS) {
            void *memory;
            if (fusion_buffer_map(b, &memory) == FUSION_SUCCESS) return puts("beyond the limit"), 1;
            fusion_buffer_destroy(b);
        }
    return status == FUSION_OUT_OF_MEMORY ? 0 : 1;
}

int main(int argc, char **argv)
{
    fusion_session *s;
    if (argc != 2) return 2;
    check(fusion_connect("/run/fusiond/fusiond.sock", NULL, &s));
    int status = strcmp(argv[1], "fill") == 0 ? fill(s) : submit(s, atoi(argv[1]));
    fusion_disconnect(s);
    return status;
}
