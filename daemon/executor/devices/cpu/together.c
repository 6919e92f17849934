/*
 * Launches that wait for pipes, each on a thread of its own: the caller's, and others that were started with the
 * process, which makes none later. Before one sleeps, or when it ends, it is looked whether those that sleep can still
 * be woken.
 */
#include "daemon/executor/devices/cpu/together.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/executor/program/executables.h"
#include "daemon/executor/program/states.h"
#include "daemon/executor/run/exit_codes.h"
#include "daemon/executor/run/fault.h"
#include "daemon/executor/run/running.h"
#include "daemon/executor/run/wait.h"
#include "fuser/cpu/runtime/pipe.h"
#include "proto/include/fusiond/status.h"
#include "proto/limits.h"

struct member {
    struct executable *x;
    uint32_t launch;
    const struct launch_context *context;
    struct error error;
    int result;
    bool ended;
    struct kernel_pipe *pipe; /* it sleeps for */
    bool writes;
    bool stuck; /* what stuck_members() finds */
};

/* One run at a time: submissions run one after another. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more, ended;
    struct member members[PROTO_MAX_TOGETHER];
    uint32_t n, next;
} run = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static __thread struct member *self;

/* ---- who waits for whom; the run is locked ---- */

static const struct program_launch *launch_of(const struct member *m)
{
    return &m->x->program->launches[m->launch];
}

/* The argument that is the pipe; NULL: it has no such. */
static const struct program_param *param_of(const struct member *m, const struct kernel_pipe *pipe)
{
    const struct program_launch *l = launch_of(m);
    for (uint32_t i = 0; i < l->n_params; i++) {
        const struct program_param *p = &l->params[i];
        if (p->kind == PROGRAM_PARAM_STATE && m->x->states[p->index]->memory == (const uint8_t *)pipe) return p;
    }
    return NULL;
}

/* May it do what the other one waits for? */
static bool may_help(const struct member *m, const struct member *other)
{
    const struct program_param *p = m->ended ? NULL : param_of(m, other->pipe);
    return p && (other->writes ? p->takes : p->puts);
}

static bool has_help(const struct member *m)
{
    for (uint32_t i = 0; i < run.n; i++)
        if (&run.members[i] != m && !run.members[i].stuck && may_help(&run.members[i], m)) return true;
    return false;
}

/* Those whom nobody can help who can go on: who sleeps for a pipe and finds it so, but for those whom another one may
   help, until no more are found. */
static uint32_t stuck_members(void)
{
    uint32_t n = 0, before;
    for (uint32_t i = 0; i < run.n; i++) {
        struct member *m = &run.members[i];
        m->stuck = !m->ended && m->pipe && !kernel_pipe_awaits_host(m->pipe, m->writes) &&
                   kernel_pipe_is_stuck(m->pipe, m->writes);
        n += m->stuck;
    }
    do {
        before = n;
        for (uint32_t i = 0; i < run.n; i++) {
            if (!run.members[i].stuck || !has_help(&run.members[i])) continue;
            run.members[i].stuck = false;
            n--;
        }
    } while (n && n != before);
    return n;
}

static size_t describe(const struct member *m, char *out, size_t room)
{
    const struct program_param *p = param_of(m, m->pipe);
    uint32_t line = !p ? 0 : m->writes ? p->put_line : p->take_line;
    char at[32] = "";
    if (line) snprintf(at, sizeof at, ", line %u,", line);
    int n = snprintf(out, room, "kernel %s%s waits for %s pipe @%s, which %s", launch_of(m)->name, at,
                     m->writes ? "room in" : "a packet of", p ? m->x->program->states[p->index].name : "?",
                     m->writes ? "is full" : "is empty");
    return n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void end_process(void)
{
    char reason[400];
    size_t used = 0;
    const char *first = NULL;
    for (uint32_t i = 0; i < run.n; i++) {
        if (!run.members[i].stuck) continue;
        if (first && used < sizeof reason - 3) used += (size_t)snprintf(reason + used, sizeof reason - used, "; ");
        if (used < sizeof reason - 1) used += describe(&run.members[i], reason + used, sizeof reason - used);
        if (!first) first = launch_of(&run.members[i])->name;
    }
    char object[128];
    snprintf(object, sizeof object, "kernel %s", first);
    uint64_t started, sequence = running_sequence(&started);
    if (!running_take_over(sequence))
        for (;;) pause(); /* somebody else ends the process */
    running_fail(sequence, FUSION_INVALID, wait_now_ns() - started, object, reason);
    _exit(EXECUTOR_EXIT_DEADLOCK);
}

static void watch(struct kernel_pipe *pipe, bool writes, bool begins)
{
    if (!self) return;
    pthread_mutex_lock(&run.lock);
    self->pipe = begins ? pipe : NULL;
    self->writes = writes;
    if (begins && stuck_members()) end_process();
    pthread_mutex_unlock(&run.lock);
}

/* ---- ends that one of them has ---- */

static bool has_end(const struct member *m, const struct kernel_pipe *pipe, bool writes)
{
    const struct program_param *p = param_of(m, pipe);
    return p && (writes ? p->puts : p->takes);
}

static bool another_has(const struct member *m, const struct kernel_pipe *pipe, bool writes)
{
    for (uint32_t i = 0; i < run.n; i++)
        if (&run.members[i] != m && has_end(&run.members[i], pipe, writes)) return true;
    return false;
}

/* Each is a thread: an end that no other has needs no lock while all of them run. */
static void set_ends(bool while_they_run)
{
    for (uint32_t i = 0; i < run.n; i++) {
        const struct member *m = &run.members[i];
        const struct program_launch *l = launch_of(m);
        for (uint32_t k = 0; k < l->n_params; k++) {
            const struct program_param *p = &l->params[k];
            if (p->kind != PROGRAM_PARAM_STATE || (!p->takes && !p->puts)) continue;
            struct kernel_pipe *pipe = (struct kernel_pipe *)m->x->states[p->index]->memory;
            for (int writes = 0; writes < 2; writes++)
                kernel_pipe_set_alone(pipe, writes, while_they_run && !another_has(m, pipe, writes));
        }
    }
}

/* ---- running ---- */

static int run_launch(struct member *m, uint32_t launch)
{
    uint64_t next = 0;
    int result;
    do {
        struct launch_code *code = executable_code(m->x, launch);
        result = code->run(code, m->x, launch, &next, m->x->program->launches[launch].n_groups, m->context, &m->error);
    } while (result == 0 && next < m->x->program->launches[launch].n_groups);
    return result;
}

static int run_member(struct member *m)
{
    return run_launch(m, m->launch);
}

/* Locked; not while the member runs. */
static void take_turn(struct member *m)
{
    pthread_mutex_unlock(&run.lock);
    self = m;
    int result = run_member(m);
    self = NULL;
    pthread_mutex_lock(&run.lock);
    m->result = result;
    m->ended = true;
    if (stuck_members()) end_process();
    pthread_cond_broadcast(&run.ended);
}

static void *work(void *unused)
{
    (void)unused;
    fault_thread_init();
    pthread_mutex_lock(&run.lock);
    for (;;) {
        while (run.next >= run.n) pthread_cond_wait(&run.more, &run.lock);
        take_turn(&run.members[run.next++]);
    }
    return NULL;
}

static bool all_ended(void)
{
    for (uint32_t i = 0; i < run.n; i++)
        if (!run.members[i].ended) return false;
    return true;
}

int together_run(struct executable *x, const uint32_t *launches, uint32_t n, const struct launch_context *context,
                 struct error *e)
{
    struct launch_context own = *context;
    int result = 0;
    own.pool = NULL; /* the threads of which are for one loop at a time */
    pthread_mutex_lock(&run.lock);
    for (uint32_t i = 0; i < n; i++) {
        struct member *m = &run.members[i];
        m->x = x;
        m->launch = launches[i];
        m->context = &own;
        m->ended = m->stuck = false;
        m->pipe = NULL;
    }
    run.n = n;
    run.next = 1;
    set_ends(true);
    pthread_cond_broadcast(&run.more);
    take_turn(&run.members[0]);
    while (!all_ended()) pthread_cond_wait(&run.ended, &run.lock);
    for (uint32_t i = 0; i < run.n && result == 0; i++) {
        result = run.members[i].result;
        if (result != 0) *e = run.members[i].error;
    }
    set_ends(false);
    run.n = 0;
    pthread_mutex_unlock(&run.lock);
    return result;
}

int together_start(void)
{
    kernel_pipe_watch(watch);
    for (int i = 1; i < PROTO_MAX_TOGETHER; i++) {
        pthread_t id;
        errno = pthread_create(&id, NULL, work, NULL);
        if (errno) return -1;
        pthread_detach(id);
    }
    return 0;
}
