/* Attacks on the processors: long compilations in many sessions, kernels that never end. */
#include <dirent.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/attacks/arena.h"

enum { PATIENCE_MS = 30000 };
enum { OPERATIONS = 1500, SIZE = 1 << 16 }; /* enough work-items for all threads of an executor */

static int start(void **state)
{
    static const char *const options[] = {"--compilers", "2", NULL};
    (void)state;
    arena_start(options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_stop();
    return 0;
}

/* ---- compilers ---- */

/* A kernel that takes a compiler a good part of a second, like no other. */
static char *long_kernel(unsigned seed)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    fputs("kernel @k(%a: ptr.global f32 read, %o: ptr.global f32 write) {\n  %i = global_id x\n"
          "  %v0 = load f32 %a[%i]\n",
          f);
    for (int i = 0; i < OPERATIONS; i++)
        fprintf(f, "  %%v%d = %s f32 %%v%d, %u.5\n", i + 1, i % 3 ? "fadd" : "fdiv", i, seed + (unsigned)i % 17);
    fprintf(f, "  store f32 %%o[%%i], %%v%d\n  return\n}\n", OPERATIONS);
    fclose(f);
    return text;
}

static fusion_exec *finalize(struct attacker *self, fusion_session *session, const char *text, fusion_type type,
                             uint32_t n_buffers)
{
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec = NULL;
    fusion_buffer *buffers[2];
    fusion_arg args[2];
    fusion_kernel_node node = {.kernel = "k", .dims = 1, .global = {SIZE}, .n_args = n_buffers, .args = args};
    if (fusion_module_load(session, "long.fk", text, strlen(text), &module)) attacker_fail(self, "load");
    for (uint32_t i = 0; i < n_buffers; i++)
        if (fusion_buffer_create(session, NULL, type, SIZE, 0, &buffers[i])) attacker_fail(self, "buffer");
    if (n_buffers == 2) {
        args[0] = fusion_arg_read(buffers[0]);
        args[1] = fusion_arg_write(buffers[1]);
    } else {
        args[0] = fusion_arg_read_write(buffers[0]);
    }
    node.module = module;
    if (fusion_graph_create(session, &graph) || fusion_graph_add_kernel(graph, &node, NULL))
        attacker_fail(self, "graph");
    if (fusion_graph_finalize(graph, NULL, &exec)) attacker_fail(self, "finalize");
    return exec;
}

static void compile_for_ever(struct attacker *self)
{
    fusion_session *session = attacker_session(self);
    if (!session) attacker_fail(self, "no session");
    attacker_ready(self);
    for (unsigned n = 0;; n++) {
        char *text = long_kernel((unsigned)getpid() * 100 + n);
        finalize(self, session, text, FUSION_F32, 2);
        free(text);
    }
}

/* Processor time of a process. */
static double used_seconds(pid_t pid)
{
    clockid_t its_clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &its_clock) != 0 || clock_gettime(its_clock, &t) != 0) return 0;
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Jobs at work: a compiler's children that have used more than it takes to wait for a job. */
static void count_jobs(int *all, int *stepped_back)
{
    pid_t compilers[8], jobs[8];
    int n_compilers = service_children(arena_service(), "fusiond-comp", compilers, 8);
    *all = *stepped_back = 0;
    for (int i = 0; i < n_compilers; i++) {
        struct service compiler = {.pid = compilers[i]};
        int n = service_children(&compiler, "fusiond-comp", jobs, 8);
        for (int k = 0; k < n; k++) {
            if (used_seconds(jobs[k]) < 0.05) continue;
            ++*all;
            *stepped_back +=
                sched_getscheduler(jobs[k]) == SCHED_IDLE || getpriority(PRIO_PROCESS, (id_t)jobs[k]) == 19;
        }
    }
}

/* All that is compiled is the attackers', who have had enough. */
static void expect_compilers_step_back(void)
{
    int all = 0, stepped_back = 0;
    for (int ms = 0; ms < PATIENCE_MS && (!all || stepped_back < all); ms += 20, usleep(20000))
        count_jobs(&all, &stepped_back);
    if (!all || stepped_back < all) fail_msg("of %d long compilations %d have stepped back", all, stepped_back);
}

static void test_compilers(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){
        .name = "long compilations", .processes = 20, .run = compile_for_ever, .check = expect_compilers_step_back});
}

/* ---- kernels ---- */

static void spin(struct attacker *self)
{
    static const char text[] =
        "kernel @k(%o: ptr.global i32 read_write) {\n  %i = global_id x\n"
        "  loop (%n: i32 = 0) {\n    %v = load i32 %o[%i], volatile\n    %c = ieq i32 %v, -1\n    if %c { break }\n"
        "    %m = add i32 %n, 1\n    store i32 %o[%i], %n, volatile\n    continue %m\n  }\n  return\n}\n";
    fusion_session *session = NULL;
    if (fusion_connect(self->socket, &(fusion_connect_options){.time_limit_ms = 600000}, &session))
        attacker_fail(self, "no session");
    fusion_exec *exec = finalize(self, session, text, FUSION_I32, 1);
    if (fusion_exec_submit(exec, NULL, 0, NULL)) attacker_fail(self, "submit");
    sleep(1); /* the others have begun, too */
    attacker_ready(self);
}

/* struct sched_attr as of its first version: the C library has none. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t real_time;
    uint64_t slice_ns, deadline, period;
};

/* Is the thread behind all others, and in no hurry? Before Linux 6.12 nobody has a slice of his own. */
static bool has_stepped_back(pid_t thread)
{
    struct attributes a = {.size = sizeof a};
    if (syscall(SYS_sched_getattr, thread, &a, sizeof a, 0) != 0) return false;
    return a.policy == SCHED_IDLE && (a.slice_ns == 0 || a.slice_ns > 50000000);
}

/* Threads of executors that compute without end. */
static void count_threads(int *all, int *stepped_back)
{
    pid_t pids[64];
    int n = service_children(arena_service(), "fusiond-exec", pids, 64);
    *all = *stepped_back = 0;
    for (int i = 0; i < n; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/task", (int)pids[i]);
        DIR *dir = used_seconds(pids[i]) > 0.2 ? opendir(path) : NULL;
        for (struct dirent *d; dir && (d = readdir(dir));) {
            if (d->d_name[0] == '.') continue;
            ++*all;
            *stepped_back += has_stepped_back((pid_t)atol(d->d_name));
        }
        if (dir) closedir(dir);
    }
}

static void expect_executors_step_back(void)
{
    int all = 0, stepped_back = 0;
    for (int ms = 0; ms < PATIENCE_MS && (!all || stepped_back < all); ms += 20, usleep(20000))
        count_threads(&all, &stepped_back);
    if (!all || stepped_back < all) fail_msg("of %d threads of executors %d have stepped back", all, stepped_back);
}

static void test_spinning(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){
        .name = "spinning kernels", .processes = 16, .run = spin, .check = expect_executors_step_back});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compilers),
        cmocka_unit_test(test_spinning),
    };
    if (!arena_possible()) return 0;
    return cmocka_run_group_tests_name("processor", tests, start, stop);
}
