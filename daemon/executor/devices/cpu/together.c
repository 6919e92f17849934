/*
 * Launches that wait for pipes, each on a thread of its own: these were started with the process, which makes none
 * later. Before one sleeps, or when it ends, it is looked whether those that sleep can still be woken.
 *
 * Submissions that have the same end of a pipe run one after another (ring/order.h). So who waits for an end that a
 * running submission has waits for that one, and nobody who is submitted later can come in its place; who waits for an
 * end that none of them has may wait for somebody who is yet to come.
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
#include "fuser/cpu/runtime/pipe.h"
#include "proto/include/fusiond/status.h"

/* A submission that has had launches here, until it ends. */
struct flight {
    struct executable *x; /* NULL: there is none. No other one has it */
    struct launch_context context;
    struct beside *beside; /* of the launches that run; NULL: none do */
    uint32_t left;         /* so many */
};

enum member_state { MEMBER_NONE, MEMBER_READY, MEMBER_RUNS, MEMBER_ENDED };

struct member {
    enum member_state state;
    struct flight *flight;
    uint32_t launch;
    struct error error;
    int result;
    struct kernel_pipe *pipe; /* it sleeps for */
    bool writes;
    bool stuck; /* what stuck_members() finds */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct member members[TOGETHER_THREADS];
    struct flight flights[RUNNING_MOST];
} run = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static __thread struct member *self;

/* ---- ends of pipes; the run is locked ---- */

static const struct program_launch *launch_of(const struct member *m)
{
    return &m->flight->x->program->launches[m->launch];
}

static bool has_memory(const struct executable *x, uint32_t state, const struct kernel_pipe *pipe)
{
    return x->states[state]->memory == (const uint8_t *)pipe;
}

/* The argument that is the pipe; NULL: it has no such. */
static const struct program_param *param_of(const struct member *m, const struct kernel_pipe *pipe)
{
    const struct program_launch *l = launch_of(m);
    for (uint32_t i = 0; i < l->n_params; i++) {
        const struct program_param *p = &l->params[i];
        if (p->kind == PROGRAM_PARAM_STATE && has_memory(m->flight->x, p->index, pipe)) return p;
    }
    return NULL;
}

static bool has_end(const struct member *m, const struct kernel_pipe *pipe, bool writes)
{
    const struct program_param *p = param_of(m, pipe);
    return p && (writes ? p->puts : p->takes);
}

/* Some launch of it does, by now or later. */
static bool submission_has_end(const struct executable *x, const struct kernel_pipe *pipe, bool writes)
{
    for (uint32_t i = 0; i < x->program->n_states; i++) {
        const struct program_state *s = &x->program->states[i];
        if (has_memory(x, i, pipe)) return writes ? s->puts : s->takes;
    }
    return false;
}

/* ---- who waits for whom; the run is locked ---- */

static bool has_stuck(const struct flight *f)
{
    for (uint32_t i = 0; i < TOGETHER_THREADS; i++)
        if (run.members[i].flight == f && run.members[i].stuck) return true;
    return false;
}

static bool another_may_help(const struct flight *f, const struct member *m)
{
    for (uint32_t i = 0; i < TOGETHER_THREADS; i++) {
        const struct member *other = &run.members[i];
        if (other->flight != f || other == m || other->stuck || other->state == MEMBER_ENDED) continue;
        if (has_end(other, m->pipe, !m->writes)) return true;
    }
    return false;
}

/* Of another submission, what it does later counts, too, if it comes to that. */
static bool may_help(const struct flight *f, const struct member *m)
{
    return another_may_help(f, m) || (f != m->flight && !has_stuck(f));
}

/* A kernel of the module that has the other end may be submitted. */
static bool one_may_come(const struct member *m)
{
    const struct program_param *p = param_of(m, m->pipe);
    const struct program_state *s = p ? &m->flight->x->program->states[p->index] : NULL;
    return s && (m->writes ? s->takers : s->putters);
}

/* Where no submission has the other end, one may come. */
static bool has_help(const struct member *m)
{
    bool any = false;
    for (uint32_t i = 0; i < RUNNING_MOST; i++) {
        const struct flight *f = &run.flights[i];
        if (!f->x || !submission_has_end(f->x, m->pipe, !m->writes)) continue;
        if (may_help(f, m)) return true;
        any = true;
    }
    return !any && one_may_come(m);
}

static bool sleeps(const struct member *m)
{
    return m->state == MEMBER_RUNS && m->pipe && !kernel_pipe_awaits_host(m->pipe, m->writes) &&
           kernel_pipe_is_stuck(m->pipe, m->writes);
}

/* Those whom nobody can help who can go on: who sleeps for a pipe and finds it so, but for those whom another one may
   help, until no more are found. */
static uint32_t stuck_members(void)
{
    uint32_t n = 0, before;
    for (uint32_t i = 0; i < TOGETHER_THREADS; i++) n += run.members[i].stuck = sleeps(&run.members[i]);
    do {
        before = n;
        for (uint32_t i = 0; i < TOGETHER_THREADS; i++) {
            if (!run.members[i].stuck || !has_help(&run.members[i])) continue;
            run.members[i].stuck = false;
            n--;
        }
    } while (n && n != before);
    return n;
}

/* ---- telling it; the run is locked ---- */

static size_t describe(const struct member *m, char *out, size_t room)
{
    const struct program_param *p = param_of(m, m->pipe);
    uint32_t line = !p ? 0 : m->writes ? p->put_line : p->take_line;
    char at[32] = "";
    if (line) snprintf(at, sizeof at, ", line %u,", line);
    int n = snprintf(out, room, "kernel %s%s waits for %s pipe @%s, which %s", launch_of(m)->name, at,
                     m->writes ? "room in" : "a packet of", p ? m->flight->x->program->states[p->index].name : "?",
                     m->writes ? "is full" : "is empty");
    return n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void describe_all(bool (*counts)(const struct member *m, const void *data), const void *data, char *out,
                         size_t room)
{
    size_t used = 0;
    *out = 0;
    for (uint32_t i = 0; i < TOGETHER_THREADS; i++) {
        const struct member *m = &run.members[i];
        if (!counts(m, data)) continue;
        if (used && used + 3 < room) used += (size_t)snprintf(out + used, room - used, "; ");
        if (used + 1 < room) used += describe(m, out + used, room - used);
    }
}

static bool is_stuck(const struct member *m, const void *unused)
{
    (void)unused;
    return m->stuck;
}

static void fail(const struct running_seen *seen, const struct flight *f, const char *reason)
{
    char object[128] = "submission";
    for (uint32_t i = TOGETHER_THREADS; i-- > 0;)
        if (run.members[i].flight == f && run.members[i].stuck)
            snprintf(object, sizeof object, "kernel %s", launch_of(&run.members[i])->name);
    running_fail(seen, FUSION_INVALID, object, reason);
}

static void end_process(void)
{
    char reason[400];
    struct running_seen seen[TOGETHER_THREADS];
    const struct flight *stuck[TOGETHER_THREADS];
    unsigned n = 0;
    describe_all(is_stuck, NULL, reason, sizeof reason);
    for (uint32_t i = 0; i < RUNNING_MOST; i++) {
        const struct flight *f = &run.flights[i];
        if (!f->x || !has_stuck(f) || !running_see(f->beside->running, &seen[n])) continue;
        stuck[n++] = f;
    }
    if (!running_take_over(seen, n))
        for (;;) pause(); /* somebody else ends the process */
    for (unsigned i = 0; i < n; i++) fail(&seen[i], stuck[i], reason);
    _exit(EXECUTOR_EXIT_DEADLOCK);
}

static bool is_asleep_in(const struct member *m, const void *r)
{
    return m->state == MEMBER_RUNS && m->pipe && m->flight->beside->running == r;
}

void together_explain(struct running *r, char *out, size_t room)
{
    if (room < 3) return;
    pthread_mutex_lock(&run.lock);
    describe_all(is_asleep_in, r, out + 2, room - 2);
    if (out[2]) {
        out[0] = ';';
        out[1] = ' ';
    }
    pthread_mutex_unlock(&run.lock);
}

/* ---- falling asleep ---- */

/* It may wait for one that was submitted, and is held back for what it does without waiting. */
static void tell_sleep(const struct member *m)
{
    for (uint32_t i = 0; i < RUNNING_MOST; i++)
        if (run.flights[i].x && submission_has_end(run.flights[i].x, m->pipe, !m->writes)) return;
    m->flight->context.wake();
}

static void watch(struct kernel_pipe *pipe, bool writes, bool begins)
{
    if (!self) return;
    pthread_mutex_lock(&run.lock);
    self->pipe = begins ? pipe : NULL;
    self->writes = writes;
    if (begins && stuck_members()) end_process();
    if (begins && sleeps(self)) tell_sleep(self);
    pthread_mutex_unlock(&run.lock);
}

static bool sleeps_for(const struct member *m, const struct executable *other)
{
    return sleeps(m) && submission_has_end(other, m->pipe, !m->writes);
}

bool together_sleeps_for(const struct executable *x, const struct executable *other)
{
    bool found = false;
    pthread_mutex_lock(&run.lock);
    for (uint32_t i = 0; i < TOGETHER_THREADS && !found; i++) {
        const struct member *m = &run.members[i];
        found = m->state == MEMBER_RUNS && m->flight->x == x && sleeps_for(m, other);
    }
    pthread_mutex_unlock(&run.lock);
    return found;
}

/* ---- ends that one of them has ---- */

static bool another_has(const struct member *m, const struct kernel_pipe *pipe, bool writes)
{
    for (uint32_t i = 0; i < TOGETHER_THREADS; i++) {
        const struct member *other = &run.members[i];
        if (other != m && other->flight == m->flight && has_end(other, pipe, writes)) return true;
    }
    return false;
}

/* Each is a thread: an end that no other has needs no lock while all of them run. */
static void set_ends(const struct flight *f, bool while_they_run)
{
    for (uint32_t i = 0; i < TOGETHER_THREADS; i++) {
        const struct member *m = &run.members[i];
        if (m->flight != f) continue;
        const struct program_launch *l = launch_of(m);
        for (uint32_t k = 0; k < l->n_params; k++) {
            const struct program_param *p = &l->params[k];
            if (p->kind != PROGRAM_PARAM_STATE) continue;
            struct kernel_pipe *pipe = (struct kernel_pipe *)f->x->states[p->index]->memory;
            if (p->takes) kernel_pipe_set_alone(pipe, false, while_they_run && !another_has(m, pipe, false));
            if (p->puts) kernel_pipe_set_alone(pipe, true, while_they_run && !another_has(m, pipe, true));
        }
    }
}

/* ---- running ---- */

static int run_member(struct member *m)
{
    struct executable *x = m->flight->x;
    uint64_t next = 0, n = x->program->launches[m->launch].n_groups;
    int result;
    do {
        struct launch_code *code = executable_code(x, m->launch);
        result = code->run(code, x, m->launch, &next, n, &m->flight->context, &m->error);
    } while (result == 0 && next < n);
    return result;
}

/* The launches of a submission have ended: its thread may go on. Locked. */
static void land(struct flight *f)
{
    struct beside *beside = f->beside;
    set_ends(f, false);
    for (uint32_t i = 0; i < TOGETHER_THREADS; i++) {
        struct member *m = &run.members[i];
        if (m->flight != f) continue;
        if (m->result != 0 && beside->result == 0) {
            beside->result = m->result;
            beside->error = m->error;
        }
        *m = (struct member){0};
    }
    f->beside = NULL;
    running_rest(beside->running);
    atomic_store(&beside->ended, true);
    f->context.wake();
}

/* Locked; not while the member runs. */
static void take_turn(struct member *m)
{
    m->state = MEMBER_RUNS;
    pthread_mutex_unlock(&run.lock);
    self = m;
    running_beside(m->flight->beside->running, launch_of(m)->name);
    int result = run_member(m);
    running_beside(NULL, NULL);
    self = NULL;
    pthread_mutex_lock(&run.lock);
    m->result = result;
    m->state = MEMBER_ENDED;
    if (--m->flight->left == 0) land(m->flight);
    if (stuck_members()) end_process();
}

static struct member *find_member(enum member_state state)
{
    for (uint32_t i = 0; i < TOGETHER_THREADS; i++)
        if (run.members[i].state == state) return &run.members[i];
    return NULL;
}

static void *work(void *unused)
{
    struct member *m;
    (void)unused;
    fault_thread_init();
    pthread_mutex_lock(&run.lock);
    for (;;) {
        while (!(m = find_member(MEMBER_READY))) pthread_cond_wait(&run.more, &run.lock);
        take_turn(m);
    }
    return NULL;
}

/* Of the submission; NULL: it has none. */
static struct flight *find_flight(const struct executable *x)
{
    for (uint32_t i = 0; i < RUNNING_MOST; i++)
        if (run.flights[i].x == x) return &run.flights[i];
    return NULL;
}

static bool has_room(uint32_t n)
{
    for (uint32_t i = 0; i < TOGETHER_THREADS && n; i++) n -= run.members[i].state == MEMBER_NONE;
    return n == 0;
}

static void begin(struct flight *f, struct executable *x, const uint32_t *launches, uint32_t n,
                  const struct launch_context *context, struct beside *beside)
{
    f->x = x;
    f->context = *context;
    f->context.pool = NULL; /* the threads of which are for one loop at a time */
    f->beside = beside;
    f->left = n;
    beside->result = 0;
    atomic_store(&beside->ended, false);
    for (uint32_t i = 0; i < n; i++)
        *find_member(MEMBER_NONE) = (struct member){.state = MEMBER_READY, .flight = f, .launch = launches[i]};
    set_ends(f, true);
    for (uint32_t i = 0; i < n; i++) pthread_cond_signal(&run.more);
}

bool together_begin(struct executable *x, const uint32_t *launches, uint32_t n, const struct launch_context *context,
                    struct beside *beside)
{
    pthread_mutex_lock(&run.lock);
    struct flight *f = find_flight(x);
    if (!f) f = find_flight(NULL);
    bool begins = f && has_room(n);
    if (begins) begin(f, x, launches, n, context, beside);
    pthread_mutex_unlock(&run.lock);
    return begins;
}

void together_end(struct executable *x)
{
    pthread_mutex_lock(&run.lock);
    struct flight *f = find_flight(x);
    if (f) *f = (struct flight){0};
    pthread_mutex_unlock(&run.lock);
}

int together_start(void)
{
    kernel_pipe_watch(watch);
    for (int i = 0; i < TOGETHER_THREADS; i++) {
        pthread_t id;
        errno = pthread_create(&id, NULL, work, NULL);
        if (errno) return -1;
        pthread_detach(id);
    }
    return 0;
}
