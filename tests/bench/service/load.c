/* Daemons of their own: one that finds its cache on disk, one whose compilers have much to do, one with many clients.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/bench/measure.h"
#include "tests/bench/service/service.h"
#include "tests/support/service.h"

enum { RESTARTS = 11, CLIENTS = 8, GRAPHS_EACH = 50, DISTINCT = 200, COMPILERS = 2, SAMPLE_US = 5000 };
enum { MANY_CLIENTS = 1000, HANDLES_EACH = 10, DESCRIPTORS = 1 << 16, SMALL = 64 };

/* ---- a daemon that was started again ---- */

static double finalize_from_disk(struct service *d, bool first)
{
    fusion_session *s;
    service_restart(d, NULL);
    bench_check(fusion_connect(d->socket, NULL, &s));
    fusion_graph *g = service_graph(s, SMALL, 0);
    double start = measure_now_ms();
    fusion_exec *exec = service_finalize(g);
    double ms = measure_now_ms() - start;
    const char *cache = fusion_exec_report(exec)->cache;
    if (strcmp(cache, first ? "miss" : "disk") != 0) {
        fprintf(stderr, "bench: the cache of a daemon that was started again: %s\n", cache);
        exit(1);
    }
    fusion_disconnect(s);
    service_stop(d);
    return ms;
}

void bench_disk_cache(json_object *rows)
{
    double times[RESTARTS];
    struct service d;
    service_start(&d, NULL);
    service_stop(&d);
    finalize_from_disk(&d, true);
    for (int i = 0; i < RESTARTS; i++) times[i] = finalize_from_disk(&d, false);
    service_clear(&d);
    measure_figure("finalize, 4 kernels, from the disk cache of a fresh daemon", measure_median(times, RESTARTS), "ms",
                   rows);
}

/* ---- many graphs ---- */

struct client {
    pthread_t thread;
    const struct service *daemon;
    pthread_barrier_t *ready;
    int number;
};

/* Two clients each want the same graphs at the same time. */
static void *run_client(void *data)
{
    const struct client *c = data;
    fusion_session *s;
    fusion_graph *graphs[GRAPHS_EACH];
    bench_check(fusion_connect(c->daemon->socket, NULL, &s));
    for (int i = 0; i < GRAPHS_EACH; i++) graphs[i] = service_graph(s, SMALL, c->number / 2 * GRAPHS_EACH + i + 1);
    pthread_barrier_wait(c->ready);
    for (int i = 0; i < GRAPHS_EACH; i++) fusion_exec_destroy(service_finalize(graphs[i]));
    fusion_disconnect(s);
    return NULL;
}

static int counter_of(json_object *status, const char *key)
{
    json_object *value;
    return json_object_object_get_ex(status, key, &value) ? json_object_get_int(value) : 0;
}

static void sample(fusion_session *s, int *busy, int *compiles)
{
    char *text;
    bench_check(fusion_session_status(s, &text));
    json_object *status = json_tokener_parse(text);
    *busy = counter_of(status, "compilers_busy");
    *compiles = counter_of(status, "compiles");
    json_object_put(status);
    free(text);
}

/* The share of compilers at work, from the first sample with a job to the last; until all graphs are compiled. */
static double busy_share(fusion_session *s, int *compiles)
{
    int busy, at_work = 0, samples = 0, idle = 0;
    while (idle < 200) { /* a second without a job: it is over */
        sample(s, &busy, compiles);
        usleep(SAMPLE_US);
        idle = busy || !samples ? 0 : idle + 1;
        if (!busy && !samples) continue;
        samples++;
        at_work += busy < COMPILERS ? busy : COMPILERS;
    }
    return (double)at_work / COMPILERS / (samples - idle);
}

void bench_compilers(json_object *rows)
{
    static const char *const options[] = {"--compilers", "2", NULL};
    struct client clients[CLIENTS];
    pthread_barrier_t ready;
    struct service d;
    fusion_session *s;
    int compiles;
    service_start(&d, options);
    bench_check(fusion_connect(d.socket, NULL, &s));
    pthread_barrier_init(&ready, NULL, CLIENTS + 1);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.daemon = &d, .ready = &ready, .number = i};
        if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i]) != 0) exit(1);
    }
    pthread_barrier_wait(&ready);
    double share = busy_share(s, &compiles);
    for (int i = 0; i < CLIENTS; i++) pthread_join(clients[i].thread, NULL);
    fusion_disconnect(s);
    service_clear(&d);
    pthread_barrier_destroy(&ready);
    measure_figure("200 distinct graphs, each of two of 8 clients: compilers at work", share * 100, "%", rows);
    measure_figure("200 distinct graphs, each of two of 8 clients: compilations", compiles, "", rows);
}

/* ---- many clients ---- */

/* For this process and the daemon, whose handles take some; more than the hard limit where that is allowed. */
static void allow_descriptors(void)
{
    struct rlimit files = {DESCRIPTORS, DESCRIPTORS};
    if (setrlimit(RLIMIT_NOFILE, &files) == 0) return;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static void take_handles(const struct service *d, fusion_session **s)
{
    bench_check(fusion_connect(d->socket, NULL, s));
    fusion_graph *g = service_graph(*s, SMALL, 0);
    for (int k = 0; k < HANDLES_EACH; k++) service_finalize(g);
    fusion_graph_destroy(g);
}

static json_object *inside(json_object *o, const char *key)
{
    json_object *value;
    return json_object_object_get_ex(o, key, &value) ? value : NULL;
}

/* For how many like this first one the daemon has descriptors, of which one client needs some more while it finalizes.
 */
static int clients_like(fusion_session *first)
{
    char *text;
    bench_check(fusion_session_status(first, &text));
    json_object *status = json_tokener_parse(text), *user = json_object_array_get_idx(inside(status, "users"), 0);
    int each = counter_of(inside(user, "holds"), "descriptors");
    int n = counter_of(inside(status, "limits"), "descriptors") / each - 1;
    json_object_put(status);
    free(text);
    return n < MANY_CLIENTS ? n : MANY_CLIENTS;
}

void bench_clients(json_object *rows)
{
    static const char *const options[] = {"--max-sessions", "1100", NULL};
    static fusion_session *sessions[MANY_CLIENTS];
    struct service d;
    char name[100];
    allow_descriptors();
    service_start(&d, options);
    measure_figure("memory of the daemon, no clients", (double)resident_bytes(d.pid) / 1e6, "MB", rows);
    take_handles(&d, &sessions[0]);
    int n = clients_like(sessions[0]);
    for (int i = 1; i < n; i++) take_handles(&d, &sessions[i]);
    snprintf(name, sizeof name, "memory of the daemon, %d clients with 10 handles each", n);
    measure_figure(name, (double)resident_bytes(d.pid) / 1e6, "MB", rows);
    if (n < MANY_CLIENTS) printf("    (no more, as a process may have too few descriptors here)\n");
    for (int i = 0; i < n; i++) fusion_disconnect(sessions[i]);
    service_clear(&d);
}
