/* A session's executor process. */
#include "daemon/broker/session/executor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/broker/core/log.h"
#include "daemon/broker/core/peer.h"
#include "daemon/broker/core/procstat.h"
#include "daemon/broker/session/gpus.h"
#include "daemon/broker/session/spare.h"
#include "daemon/executor/run/exit_codes.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum { MAX_DEATHS = 20, DEATH_WINDOW_MS = 60000 };
enum { FIRST_PAUSE_MS = 10, MAX_DOUBLINGS = 7, MAX_PAUSE_MS = 1000 }; /* between a death and the next start */
enum { RESUMED = 1, DRIVERS };                                        /* what EXECUTOR_NOTHING is about */
enum { MIN_LOOK_MS = 100, MAX_LOOK_MS = 5000 };                       /* between looks at the progress of submissions */
enum { MOST_DRIVERS = 8 };                         /* that an executor can have tried out, whatever it says */
enum { MOST_CALLS = 1024, MOST_QUEUED = 1 << 20 }; /* before it is busy */
enum { GRACE_MS = 1000 }; /* beyond the time limit: usually the executor's own watchdog is first, and knows more */

/* A request without its reply. They come in order. */
struct call {
    STAILQ_ENTRY(call) link;
    uint32_t id;
    enum executor_subject subject;
    uint64_t about;
};

struct executor {
    struct broker *broker;
    struct ring *ring;
    int ring_fd, event_fd;
    uint32_t time_limit_ms;
    bool gpu;          /* it runs what runs on GPUs */
    bool states;       /* a program that it has been sent has variables or pipes */
    pid_t client;      /* whose kernels they are, */
    struct user *user; /* and his user */
    int cgroup;        /* folder of the control group that it is in; -1: the daemon's */
    bool started;      /* once at least */
    const struct executor_events *events;
    void *data;
    struct child *child; /* NULL: none runs */
    struct peer *peer;
    STAILQ_HEAD(, call) calls;
    uint32_t n_calls;
    uint32_t next_id;
    uint64_t deaths[MAX_DEATHS]; /* when; a ring */
    uint32_t n_deaths;
    bool hopeless;
    bool resumed;            /* it has all that was sent again, and takes submissions */
    uv_timer_t *pause;       /* before the next one is started; NULL: none */
    uv_timer_t *look;        /* while a child runs: at the progress of submissions */
    uint64_t seen, since_ms; /* submissions completed when last looked at, and since when */
    struct priority_load load;
    bool overdue;      /* killed for running too long */
    char corrupt[160]; /* what it said about the ring; "" */
};

struct executor *executor_new(struct broker *broker, struct ring *ring, int ring_fd, int event_fd, bool gpu,
                              pid_t client, struct user *user, uint32_t time_limit_ms,
                              const struct executor_events *events, void *data)
{
    struct executor *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    *e = (struct executor){.broker = broker,
                           .ring = ring,
                           .ring_fd = ring_fd,
                           .event_fd = event_fd,
                           .gpu = gpu,
                           .client = client,
                           .user = user,
                           .cgroup = -1,
                           .time_limit_ms = time_limit_ms,
                           .events = events,
                           .resumed = true,
                           .data = data};
    STAILQ_INIT(&e->calls);
    return e;
}

static void drop_calls(struct executor *e)
{
    struct call *call;
    while ((call = STAILQ_FIRST(&e->calls))) {
        STAILQ_REMOVE_HEAD(&e->calls, link);
        free(call);
    }
    e->n_calls = 0;
}

/* ---- timers ---- */

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle);
}

/* NULL: out of memory. */
static uv_timer_t *new_timer(struct executor *e)
{
    uv_timer_t *timer = malloc(sizeof *timer);
    if (!timer) return NULL;
    uv_timer_init(&e->broker->loop, timer);
    timer->data = e;
    return timer;
}

static void end_timer(uv_timer_t **timer)
{
    if (*timer) uv_close((uv_handle_t *)*timer, on_timer_closed);
    *timer = NULL;
}

/* ---- the time limit, enforced from outside ---- */

/*
 * The ring says whether submissions are pending and whether one has completed since: the client and its executor write
 * there and nobody else, so that who forges it ends his own executor, or gets what he has by submitting again.
 */
static void on_look(uv_timer_t *timer)
{
    struct executor *e = timer->data;
    uint64_t completed = atomic_load(&e->ring->completed), pushed = atomic_load(&e->ring->pushed);
    uint32_t told = atomic_load(&e->ring->completion_bell); /* outcomes, too, of what has older ones before it */
    uint64_t now = uv_now(&e->broker->loop);
    bool restarting = atomic_load(&e->ring->state) == RING_RESTARTING; /* it is given its buffers and code again */
    if (told != e->seen || pushed == completed || restarting) {
        e->seen = told;
        e->since_ms = now;
    } else if (now - e->since_ms > (uint64_t)e->time_limit_ms + GRACE_MS && e->child) {
        e->overdue = true;
        child_kill(e->child);
    }
}

static void start_looking(struct executor *e)
{
    if (!e->look) e->look = new_timer(e);
    if (!e->look) return; /* the next executor gets one, and this one has its own watchdog */
    uint32_t period = e->time_limit_ms / 2;
    period = period < MIN_LOOK_MS ? MIN_LOOK_MS : period > MAX_LOOK_MS ? MAX_LOOK_MS : period;
    e->seen = atomic_load(&e->ring->completion_bell);
    e->since_ms = uv_now(&e->broker->loop);
    e->overdue = false;
    uv_timer_start(e->look, on_look, period, period);
}

/* Has it died, and we are not told yet? A client who has read so in the ring may be here before that. */
static bool has_died_unseen(const struct executor *e)
{
    if (!e->child) return false;
    if (child_has_ended(e->child)) return true;
    return e->resumed && atomic_load(&e->ring->state) == RING_RESTARTING; /* its last words but the completion */
}

void executor_free(struct executor *e)
{
    if (!e) return;
    if (has_died_unseen(e)) e->broker->counters.executors_lost++;
    end_timer(&e->look);
    end_timer(&e->pause);
    child_abandon(e->child);
    peer_close(e->peer, false);
    drop_calls(e);
    free(e);
}

/* ---- death ---- */

struct cause {
    fusion_status status;
    char reason[256];
};

static struct cause cause_of(const struct executor *e, int status)
{
    struct cause cause = {.status = FUSION_EXECUTOR};
    char ending[128];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    child_describe(status, ending, sizeof ending);
    if (e->overdue) {
        cause.status = FUSION_TIMEOUT;
        snprintf(cause.reason, sizeof cause.reason,
                 "ran into the time limit of %u ms; its executor did not end it and was killed", e->time_limit_ms);
    } else if (code == EXECUTOR_EXIT_FAULT) {
        cause.status = FUSION_KERNEL_FAULT;
        snprintf(cause.reason, sizeof cause.reason, "a kernel accessed memory it must not; the executor was restarted");
    } else if (code == EXECUTOR_EXIT_TIMEOUT) {
        cause.status = FUSION_TIMEOUT;
        snprintf(cause.reason, sizeof cause.reason, "a submission ran into its time limit; the executor was restarted");
    } else if (code == EXECUTOR_EXIT_DEADLOCK) {
        snprintf(cause.reason, sizeof cause.reason, "kernels waited for each other; the executor was restarted");
    } else if (code == EXECUTOR_EXIT_LOST) {
        snprintf(cause.reason, sizeof cause.reason, "the driver lost its GPU; the executor was restarted");
    } else if (code == EXECUTOR_EXIT_CORRUPT) {
        cause.status = FUSION_PROTOCOL;
        snprintf(cause.reason, sizeof cause.reason, "the submission ring is corrupt: %s", e->corrupt);
    } else {
        snprintf(cause.reason, sizeof cause.reason, "the executor %s", ending);
    }
    return cause;
}

/* Those behind the submission that failed, or beside it, did not fail themselves. */
static struct cause cause_for_pending(const struct cause *cause)
{
    struct cause pending = *cause;
    if (cause->status == FUSION_KERNEL_FAULT || cause->status == FUSION_TIMEOUT) {
        pending.status = FUSION_EXECUTOR;
        snprintf(pending.reason, sizeof pending.reason, "not finished: another submission %s",
                 cause->status == FUSION_TIMEOUT ? "ran out of time" : "had a fault");
    }
    return pending;
}

/* The client's end is another open file, so it cannot make this block; full: it is readable already. */
static void tell(struct executor *e)
{
    if (atomic_load(&e->ring->wants_event)) send(e->event_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The submission that ran too long; the others have not run. */
static void complete_running(struct executor *e, const struct cause *cause)
{
    uint64_t completed = atomic_load(&e->ring->completed), pending = atomic_load(&e->ring->pushed) - completed;
    if (pending && pending <= RING_MAX_PENDING)
        ring_complete(e->ring, completed + 1, cause->status, (uint64_t)e->time_limit_ms * 1000000, "submission",
                      cause->reason);
}

static void abort_pending(struct executor *e, const struct cause *cause)
{
    struct cause pending = cause_for_pending(cause);
    if (e->overdue) complete_running(e, cause);
    if (ring_abort(e->ring, pending.status, "executor", pending.reason) > 0 || e->overdue) tell(e);
}

/* Too many deaths in too short a time? */
static bool is_hopeless(struct executor *e)
{
    uint64_t now = uv_now(&e->broker->loop), *oldest = &e->deaths[e->n_deaths++ % MAX_DEATHS];
    bool hopeless = e->n_deaths > MAX_DEATHS && now - *oldest < DEATH_WINDOW_MS;
    *oldest = now;
    return hopeless;
}

static void give_up(struct executor *e, fusion_status status, const char *reason)
{
    e->hopeless = true;
    ring_set_state(e->ring, RING_CLOSED);
    e->events->given_up(e->data, status, reason);
}

/* The client's control group did not take it, and will not take the next one. */
static bool is_locked_out(struct executor *e, int status)
{
    char reason[200];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (e->cgroup < 0 || code <= CHILD_EXIT_NO_CGROUP) return false;
    snprintf(reason, sizeof reason,
             "the service cannot run kernels in the client's control group: %s (fusiond(8), CONTROL GROUPS)",
             strerror(code - CHILD_EXIT_NO_CGROUP));
    give_up(e, FUSION_INVALID, reason);
    return true;
}

/* Behind everything that was sent again: the executor takes submissions from then on. */
static void send_resume(struct executor *e)
{
    struct proto_writer w;
    uint32_t id = executor_next_id(e);
    proto_begin_request(&w, id, "resume");
    proto_pack_map(&w, 0);
    executor_request(e, id, &w, EXECUTOR_NOTHING, RESUMED);
}

static void start_again(struct executor *e)
{
    executor_start(e);
    if (e->hopeless) return;
    e->events->restarted(e->data);
    send_resume(e);
}

static void on_pause_over(uv_timer_t *timer)
{
    struct executor *e = timer->data;
    end_timer(&e->pause);
    start_again(e);
}

/* The first death is followed by a start at once, further ones in the same minute by longer and longer pauses. */
static uint32_t pause_ms(const struct executor *e)
{
    uint64_t now = uv_now(&e->broker->loop);
    uint32_t n = e->n_deaths < MAX_DEATHS ? e->n_deaths : MAX_DEATHS, recent = 0;
    for (uint32_t i = 0; i < n; i++) recent += now - e->deaths[i] < DEATH_WINDOW_MS;
    if (recent <= 1) return 0;
    return recent - 2 < MAX_DOUBLINGS ? FIRST_PAUSE_MS << (recent - 2) : MAX_PAUSE_MS;
}

/* The client may have written it himself: it is for the log, and about his own session. */
static void find_fault(const struct executor *e, fusion_status status, struct executor_fault *fault)
{
    static const char kind[] = "kernel ";
    *fault = (struct executor_fault){0};
    if ((status != FUSION_KERNEL_FAULT && status != FUSION_TIMEOUT) || e->overdue ||
        !ring_last_failure(e->ring, status, fault->object, fault->reason))
        return;
    if (strncmp(fault->object, kind, sizeof kind - 1) == 0) fault->kernel = fault->object + sizeof kind - 1;
}

static void forget_child(struct executor *e)
{
    e->child = NULL;
    e->resumed = false;
    end_timer(&e->look);
    peer_close(e->peer, false);
    e->peer = NULL;
    drop_calls(e);
}

/* It ended for a program with variables or pipes, once in a session: nothing was running, and what was submitted since
   waits in the ring for the next one. */
static bool makes_room_for_states(struct executor *e, int status)
{
    if (e->states || e->overdue || !WIFEXITED(status) || WEXITSTATUS(status) != EXECUTOR_EXIT_STATES) return false;
    e->states = true;
    forget_child(e);
    ring_set_state(e->ring, RING_RESTARTING);
    start_again(e);
    return true;
}

static void on_exit_status(void *data, int status)
{
    struct executor *e = data;
    struct executor_fault fault;
    if (makes_room_for_states(e, status)) return;
    struct cause cause = cause_of(e, status);
    find_fault(e, cause.status, &fault);
    forget_child(e);
    e->broker->counters.executors_lost++;
    abort_pending(e, &cause); /* before the state changes: who waits is to find his completion */
    ring_set_state(e->ring, RING_RESTARTING);
    if (is_locked_out(e, status)) return;
    if (cause.status == FUSION_PROTOCOL) {
        give_up(e, cause.status, cause.reason);
        return;
    }
    if (is_hopeless(e)) {
        char reason[400];
        snprintf(reason, sizeof reason, "the executor died %d times in %d s, the last time: %s", MAX_DEATHS + 1,
                 DEATH_WINDOW_MS / 1000, cause.reason);
        give_up(e, FUSION_EXECUTOR, reason);
        return;
    }
    e->events->lost(e->data, cause.status, cause.reason, &fault);
    uint32_t pause = pause_ms(e);
    e->pause = pause ? new_timer(e) : NULL;
    if (e->pause)
        uv_timer_start(e->pause, on_pause_over, pause, 0);
    else
        start_again(e);
}

/* ---- messages ---- */

/* Its user's own kernels may be what makes it do so. */
__attribute__((format(printf, 2, 3))) static void log_warning_of(const struct executor *e, const char *format, ...)
{
    const struct log_subject about = {.user = true, .uid = e->user->uid, .process = e->client};
    char text[LOG_LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log_about(LOG_WARNING, &e->user->log, &about, "%s", text);
}

static void on_done(struct executor *e, uint64_t about, const struct proto_message *m)
{
    uint64_t tested = 0;
    e->resumed |= about == RESUMED;
    if (about == DRIVERS && proto_get_uint(&m->params, "tested", &tested))
        e->broker->counters.drivers_tested += tested < MOST_DRIVERS ? tested : MOST_DRIVERS;
}

static void on_reply(struct executor *e, struct proto_message *m)
{
    struct call *call = STAILQ_FIRST(&e->calls);
    if (!call || call->id != m->id) {
        log_warning_of(e, "an executor answered a question nobody asked");
        child_kill(e->child);
        return;
    }
    STAILQ_REMOVE_HEAD(&e->calls, link);
    bool was_busy = e->n_calls-- > MOST_CALLS;
    enum executor_subject subject = call->subject;
    uint64_t about = call->about;
    free(call);
    if (subject != EXECUTOR_NOTHING)
        e->events->replied(e->data, subject, about, m);
    else if (m->status == FUSION_SUCCESS)
        on_done(e, about, m);
    else
        log_warning_of(e, "an executor refused: %s: %s", m->object, m->reason);
    if (was_busy && e->n_calls <= MOST_CALLS) e->events->less_busy(e->data);
}

static void on_message(void *data, struct proto_message *m)
{
    struct executor *e = data;
    if (m->kind == PROTO_REPLY) {
        on_reply(e, m);
    } else if (m->kind == PROTO_NOTICE && strcmp(m->method, "executable.spares") == 0) {
        uint64_t executable;
        if (proto_get_uint(&m->params, "executable", &executable)) e->events->spares_run(e->data, executable);
    } else if (m->kind == PROTO_NOTICE && strcmp(m->method, "executable.binaries") == 0) {
        uint64_t executable;
        if (proto_get_uint(&m->params, "executable", &executable)) e->events->binaries(e->data, executable, &m->params);
    } else if (m->kind == PROTO_NOTICE && strcmp(m->method, "ring.corrupt") == 0) {
        char *reason = NULL;
        if (proto_get_string(&m->params, "reason", &reason, sizeof e->corrupt - 1))
            snprintf(e->corrupt, sizeof e->corrupt, "%s", reason);
        free(reason);
    }
}

static void on_ended(void *data, fusion_status why, const char *reason)
{
    struct executor *e = data;
    if (why) log_warning_of(e, "an executor sent what is no protocol: %s", reason);
    peer_close(e->peer, false);
    e->peer = NULL;
    /* Usually it has ended, and has its status already; one that only closed its descriptor is of no use. */
    child_kill(e->child);
}

static void on_drained(void *data)
{
    struct executor *e = data;
    e->events->less_busy(e->data);
}

static const struct peer_events events = {.message = on_message, .ended = on_ended, .drained = on_drained};

bool executor_is_busy(const struct executor *e)
{
    return e && e->peer && (e->n_calls > MOST_CALLS || peer_queued(e->peer) > MOST_QUEUED);
}

uint64_t executor_measure(struct executor *e)
{
    return e && e->child ? priority_measure(&e->load) : 0;
}

uint64_t executor_memory(const struct executor *e)
{
    return e && e->child ? procstat_private(child_pid(e->child)) : 0;
}

void executor_step_to(struct executor *e, int steps)
{
    if (e && e->child) priority_step_to(&e->load, steps);
}

uint32_t executor_next_id(struct executor *e)
{
    return ++e->next_id;
}

void executor_request(struct executor *e, uint32_t id, struct proto_writer *request, enum executor_subject subject,
                      uint64_t about)
{
    struct call *call = malloc(sizeof *call);
    if (!e->peer || !call) {
        /* It dies at this moment: everything is sent again then. */
        proto_writer_clear(request);
        free(call);
        return;
    }
    *call = (struct call){.id = id, .subject = subject, .about = about};
    STAILQ_INSERT_TAIL(&e->calls, call, link);
    e->n_calls++;
    if (!peer_send(e->peer, request) && e->child) child_kill(e->child);
}

/* What GPUs there are, which are not tried out again. The first of all messages. */
static void send_drivers(struct executor *e)
{
    const struct gpu *gpu;
    struct proto_writer w;
    uint32_t id = executor_next_id(e), n = 0;
    for (uint32_t i = 0; (gpu = gpus_get(e->broker->gpus, i)); i++) n += gpu->description != NULL;
    proto_begin_request(&w, id, "drivers");
    proto_pack_map(&w, 1);
    proto_pack_key(&w, "descriptions");
    msgpack_pack_array(&w.packer, n);
    for (uint32_t i = 0; (gpu = gpus_get(e->broker->gpus, i)); i++)
        if (gpu->description) msgpack_pack_bin_with_body(&w.packer, gpu->description->data, gpu->description->size);
    executor_request(e, id, &w, EXECUTOR_NOTHING, DRIVERS);
}

/* What the new process serves. The first of all messages but for that. */
static void send_begin(struct executor *e)
{
    struct proto_writer w;
    uint32_t id = executor_next_id(e);
    proto_begin_request(&w, id, "begin");
    proto_pack_map(&w, 0);
    w.fds[w.n_fds++] = e->ring_fd;
    w.fds[w.n_fds++] = e->event_fd;
    executor_request(e, id, &w, EXECUTOR_NOTHING, 0);
}

static void send_options(struct executor *e)
{
    struct proto_writer w;
    uint32_t id = executor_next_id(e);
    proto_begin_request(&w, id, "options");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "time_limit_ms", e->time_limit_ms);
    executor_request(e, id, &w, EXECUTOR_NOTHING, 0);
}

void executor_live_in(struct executor *e, int cgroup)
{
    e->cgroup = cgroup;
}

bool executor_has_started(const struct executor *e)
{
    return e->started;
}

void executor_start(struct executor *e)
{
    struct started started;
    if (e->child || e->pause || e->hopeless) return;
    const char *option = e->gpu ? "--gpu" : e->states ? "--states" : NULL;
    if (!spare_take(e->broker, option, e->cgroup, on_exit_status, e, &started)) {
        give_up(e, FUSION_OUT_OF_MEMORY, "no executor could be started: out of memory, processes or open files");
        return;
    }
    e->corrupt[0] = 0;
    e->peer = peer_new(&e->broker->loop, started.connection, SIZE_MAX, &events, e);
    if (!e->peer) {
        child_abandon(started.child);
        give_up(e, FUSION_OUT_OF_MEMORY, "no executor could be started: out of memory");
        return;
    }
    peer_charge_received(e->peer, e->user);
    e->child = started.child;
    e->started = true;
    start_looking(e);
    priority_watch(&e->load, child_pid(e->child), &priority_of_executors, priority_class_of(e->client));
    if (e->gpu) send_drivers(e);
    send_begin(e);
    send_options(e);
}
