/*
 * Processes die at random, by SIGKILL: broker, compilers, executors, clients. What was acknowledged is there, what
 * others do goes on, and nothing stays behind. FUSIOND_TEST_KILLS: how many die.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/rng.h"
#include "tests/support/service.h"

enum { CLIENTS = 4, SIZE = 64, PATIENCE_MS = 60000, KERNELS = 40, PER_LOOK = 100 };

static struct service service;
static struct rng rng;

/* ---- clients ---- */

/* What a client tells: memory shared with it. */
struct told {
    atomic_ulong submissions, finalizes, connections; /* that were acknowledged */
    atomic_int wrong;
    char what[1300];
};

static struct told *told;

_Noreturn static void tell_wrong(struct told *t, const char *what)
{
    const fusion_error *e = fusion_last_error();
    snprintf(t->what, sizeof t->what, "%s; last error: %s: %s: %s", what, fusion_status_name(e->status), e->object,
             e->reason);
    atomic_store(&t->wrong, 1);
    for (;;) pause();
}

/* A process of the service has died: what was asked is not done, and that is said. Nothing else may happen. */
static bool was_killed(struct told *t, fusion_status status, const char *what)
{
    if (status == FUSION_SUCCESS) return false;
    if (status != FUSION_EXECUTOR && status != FUSION_CONNECTION && status != FUSION_COMPILER) tell_wrong(t, what);
    return true;
}

struct work {
    fusion_session *session;
    fusion_buffer *sum;
    int *values;
};

/* sum[i] += by. */
static fusion_status make(struct work *w, int by, fusion_exec **exec)
{
    char source[512];
    fusion_module *module = NULL;
    fusion_graph *graph = NULL;
    snprintf(source, sizeof source,
             "kernel @k(%%o: ptr.global i32 read_write) {\n  %%i = global_id x\n  %%x = load i32 %%o[%%i]\n"
             "  %%y = add i32 %%x, %d\n  store i32 %%o[%%i], %%y\n  return\n}\n",
             by);
    fusion_arg args[] = {fusion_arg_read_write(w->sum)};
    const fusion_kernel_node node = {.kernel = "k", .dims = 1, .global = {SIZE}, .n_args = 1, .args = args};
    fusion_kernel_node own = node;
    fusion_status status = fusion_module_load(w->session, "sum.fk", source, strlen(source), &module);
    own.module = module;
    if (!status) status = fusion_graph_create(w->session, &graph);
    if (!status) status = fusion_graph_add_kernel(graph, &own, NULL);
    if (!status) status = fusion_graph_finalize(graph, NULL, exec);
    if (graph) fusion_graph_destroy(graph);
    if (module) fusion_module_destroy(module);
    return status;
}

/* False: the session is of no more use. What was acknowledged is in the memory, whoever dies then. */
static bool submit(struct work *w, struct told *t, fusion_exec *exec, int by)
{
    int before = w->values[0];
    fusion_event event;
    fusion_status status = fusion_exec_submit(exec, NULL, 0, &event);
    if (status == FUSION_SUCCESS) status = fusion_event_wait(w->session, event, PATIENCE_MS, NULL);
    for (int i = 0; i < SIZE; i++) {
        if (status == FUSION_SUCCESS && w->values[i] != before + by)
            tell_wrong(t, "an acknowledged result is not there");
        if (w->values[i] != before && w->values[i] != before + by) tell_wrong(t, "memory has what nobody wrote");
    }
    if (status == FUSION_SUCCESS) atomic_fetch_add(&t->submissions, 1);
    if (!was_killed(t, status, "submitting")) return true;
    for (int i = 0; i < SIZE; i++) w->values[i] = before; /* part of it may have run */
    return status == FUSION_EXECUTOR;
}

/* One session, until it ends. */
static void work(struct told *t, fusion_session *session, struct rng *own)
{
    struct work w = {.session = session};
    void *memory;
    if (was_killed(t, fusion_buffer_create(session, "sum", FUSION_I32, SIZE, 0, &w.sum), "making a buffer") ||
        was_killed(t, fusion_buffer_map(w.sum, &memory), "mapping a buffer"))
        return;
    w.values = memory;
    for (bool goes_on = true; goes_on;) {
        int by = 1 + (int)rng_below(own, KERNELS);
        fusion_exec *exec;
        fusion_status status = make(&w, by, &exec);
        goes_on = status != FUSION_CONNECTION;
        if (was_killed(t, status, "finalizing")) continue;
        atomic_fetch_add(&t->finalizes, 1);
        for (int i = 0; i < 50 && goes_on; i++) goes_on = submit(&w, t, exec, by);
        fusion_exec_destroy(exec);
    }
}

_Noreturn static void be_client(struct told *t, uint64_t seed)
{
    struct rng own = {seed};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        fusion_session *session;
        fusion_status status = fusion_connect(service.socket, NULL, &session);
        if (status == FUSION_SUCCESS) {
            atomic_fetch_add(&t->connections, 1);
            work(t, session, &own);
            fusion_disconnect(session);
        } else if (!was_killed(t, status, "connecting")) {
            continue;
        } else {
            usleep(1000);
        }
    }
}

static pid_t clients[CLIENTS];

static void start_client(int i)
{
    uint64_t seed = rng_next(&rng);
    clients[i] = fork_or_fail();
    if (clients[i] == 0) be_client(&told[i], seed);
}

static void expect_nothing_wrong(void)
{
    for (int i = 0; i < CLIENTS; i++)
        if (atomic_load(&told[i].wrong)) fail_msg("client %d: %s", i, told[i].what);
}

static unsigned long total_submissions(void)
{
    unsigned long n = 0;
    for (int i = 0; i < CLIENTS; i++) n += atomic_load(&told[i].submissions);
    return n;
}

/* ---- what there is ---- */

static void expect_gone(const pid_t *pids, int n)
{
    for (int i = 0; i < n; i++) {
        for (int ms = 0; ms < PATIENCE_MS && process_lives(pids[i]); ms++) usleep(1000);
        assert_false(process_lives(pids[i]));
    }
}

/* Entries of a folder; those whose names begin with `prefix`, where it is a folder of files; of links, by what they
   lead to. */
static int count(const char *path, bool links, const char *prefix)
{
    char name[600], to[256];
    int n = 0;
    DIR *d = opendir(path);
    if (!d) return 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        ssize_t size = links ? readlink(name, to, sizeof to - 1) : 0;
        if (size < 0) continue;
        to[size] = 0;
        n += strncmp(links ? to : e->d_name, prefix, strlen(prefix)) == 0;
    }
    closedir(d);
    return n;
}

struct left {
    int descriptors, memory_files, maps, folders, executors, compilers;
    int in_folder; /* entries of the temporary folder: its lock, and a folder for each compiler */
};

static int count_maps(pid_t pid)
{
    char path[64], line[600];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f)) n += strstr(line, "memfd:") != NULL;
    fclose(f);
    return n;
}

static int count_temporary(void)
{
    char path[600];
    int n = 0;
    DIR *d = opendir(service.folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (strncmp(e->d_name, "fusiond-tmp-", 12) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", service.folder, e->d_name);
        n += count(path, false, "");
    }
    closedir(d);
    return n;
}

static struct left look(void)
{
    struct left l;
    pid_t pids[64];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)service.pid);
    l.descriptors = count(path, true, "");
    l.memory_files = count(path, true, "/memfd:");
    l.maps = count_maps(service.pid);
    l.folders = count(service.folder, false, "fusiond-tmp-");
    l.in_folder = count_temporary();
    l.executors = service_children(&service, "fusiond-exec", pids, 64);
    l.compilers = service_children(&service, "fusiond-comp", pids, 64);
    return l;
}

/* Everybody has gone, and the service has noticed. At most so many compilers wait for work. */
static void expect_nothing_left(void)
{
    enum { COMPILERS = 2, OWN = 64 + 40 /* descriptors: numbers kept free; sockets, the loop, compilers */ };
    struct left l = {0};
    for (int i = 0; i < CLIENTS; i++) {
        kill(clients[i], SIGKILL);
        waitpid(clients[i], NULL, 0);
    }
    fusion_session *watcher = service_connect(&service);
    for (int ms = 0; ms < PATIENCE_MS; ms += 10, usleep(10000)) {
        l = look();
        if (service_counter(watcher, "sessions") == 1 && l.executors == 1 && l.memory_files <= 1 && l.maps <= 1 &&
            l.in_folder == l.compilers + 1)
            break;
    }
    assert_int_equal(service_counter(watcher, "sessions"), 1);
    assert_int_equal(service_counter(watcher, "objects"), 0);
    fusion_disconnect(watcher);
    assert_int_equal(l.executors, 1);      /* the one that waits for the next session */
    assert_in_range(l.memory_files, 0, 1); /* the watcher's ring */
    assert_in_range(l.maps, 0, 1);
    assert_in_range(l.compilers, 0, 2 * COMPILERS);
    assert_int_equal(l.folders, 1);
    assert_int_equal(l.in_folder, l.compilers + 1);
    assert_in_range(l.descriptors, 1, OWN);
}

/* ---- deaths ---- */

enum victim { BROKER, COMPILER, EXECUTOR, CLIENT, VICTIMS };
static const char *const victims[] = {"brokers", "compilers", "executors", "clients"};
static const char *const options[] = {"--compilers", "2", NULL};

static bool kill_broker(void)
{
    pid_t pids[128];
    int n = service_children(&service, "fusiond-", pids, 128);
    kill(service.pid, SIGKILL);
    waitpid(service.pid, NULL, 0);
    service.pid = 0;
    expect_gone(pids, n);
    service_restart(&service, options);
    return true;
}

static bool kill_child(const char *name)
{
    pid_t pids[128];
    int n = service_children(&service, name, pids, 128);
    return n > 0 && kill(pids[rng_below(&rng, (uint32_t)n)], SIGKILL) == 0;
}

static bool kill_client(void)
{
    int i = (int)rng_below(&rng, CLIENTS);
    kill(clients[i], SIGKILL);
    waitpid(clients[i], NULL, 0);
    start_client(i);
    return true;
}

static bool kill_one(enum victim v)
{
    if (v == BROKER) return kill_broker();
    return v == CLIENT ? kill_client() : kill_child(v == COMPILER ? "fusiond-comp" : "fusiond-exec");
}

/* After all that the clients go on: of each something more is acknowledged. */
static void expect_progress(void)
{
    for (int i = 0; i < CLIENTS; i++) {
        unsigned long before = atomic_load(&told[i].submissions);
        for (int ms = 0; ms < PATIENCE_MS && atomic_load(&told[i].submissions) == before; ms++) {
            expect_nothing_wrong();
            usleep(1000);
        }
        assert_true(atomic_load(&told[i].submissions) > before);
    }
}

static void test_kills(void **state)
{
    const char *text = getenv("FUSIOND_TEST_KILLS"), *seed = getenv("FUSIOND_TEST_SEED");
    int wanted = text ? atoi(text) : 100, done[VICTIMS] = {0}, n = 0;
    (void)state;
    rng = (struct rng){seed ? strtoull(seed, NULL, 10) : 1};
    told = mmap(NULL, CLIENTS * sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    service_start(&service, options);
    while (n < wanted) {
        for (int i = 0; i < CLIENTS; i++) start_client(i);
        for (int end = n + PER_LOOK < wanted ? n + PER_LOOK : wanted; n < end;) {
            usleep((useconds_t)rng_below(&rng, 40000));
            uint32_t draw = rng_below(&rng, 16);
            enum victim v = draw == 0 ? BROKER : draw < 4 ? COMPILER : draw < 10 ? EXECUTOR : CLIENT;
            if (!kill_one(v)) continue;
            done[v]++;
            n++;
            expect_nothing_wrong();
        }
        expect_progress();
        expect_nothing_left();
    }
    for (int v = 0; v < VICTIMS; v++) {
        print_message("# killed: %d %s\n", done[v], victims[v]);
        assert_true(done[v] > 0);
    }
    print_message("# acknowledged: %lu submissions\n", total_submissions());
    service_stop(&service);
    assert_int_equal(count(service.folder, false, "fusiond-tmp-"), 0);
    service_clear(&service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kills)};
    return cmocka_run_group_tests_name("kills", tests, NULL, NULL);
}
