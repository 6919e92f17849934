/*
 * fusiond-compiler: is told of one job at a time by the broker, over descriptor 3. Each job has a connection of its
 * own, and a process of its own that alone reads it: a copy of this one, which never sees a job.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/devices.h"
#include "daemon/compiler/job.h"
#include "daemon/compiler/process/confine.h"
#include "daemon/compiler/process/process.h"
#include "daemon/compiler/process/worker.h"
#include "proto/fields.h"
#include "proto/transfer.h"

enum { CONTROL_FD = 3 };

static const struct {
    const char *method;
    job *run;
} jobs[] = {
    {"module", job_module}, {"link", job_link}, {"plan", job_plan}, {"compile", job_compile}, {"save", job_save}};

static int unknown_job(const struct proto_message *m, struct proto_writer *reply, struct error *e)
{
    (void)reply;
    return error_set(e, FUSION_PROTOCOL, m->method, "the compiler has no such method");
}

static job *find_job(const char *method)
{
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (strcmp(jobs[i].method, method) == 0) return jobs[i].run;
    return unknown_job;
}

static int send_notice(struct proto_writer *w)
{
    int result = proto_finish(w) ? proto_send(CONTROL_FD, w, 0) : -1;
    proto_writer_clear(w);
    return result;
}

static int send_ready(void)
{
    struct proto_writer w;
    proto_begin_notice(&w, "ready");
    proto_pack_map(&w, 2);
    proto_pack_key(&w, "devices");
    msgpack_pack_array(&w.packer, devices_count());
    for (unsigned i = 0; i < devices_count(); i++) devices_pack(&w, devices_get(i));
    proto_pack_string(&w, "target", devices_cache_target());
    return send_notice(&w);
}

static int send_idle(uint64_t used_us)
{
    struct proto_writer w;
    proto_begin_notice(&w, "idle");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "used_us", used_us);
    return send_notice(&w);
}

/* The machine's figures, measured by who has seen no job. */
static int send_measured(void)
{
    struct proto_writer w;
    uint8_t bytes[COST_FIGURES_BYTES];
    if (!devices_take_figures(NULL, 0)) return 0;
    cost_figures_write(&devices_get(0)->properties.machine, bytes);
    proto_begin_notice(&w, "measured");
    proto_pack_map(&w, 1);
    proto_pack_bytes(&w, "machine", bytes, sizeof bytes);
    return send_notice(&w);
}

static void send_started(int pid)
{
    struct proto_writer w;
    proto_begin_notice(&w, "started");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "pid", (uint64_t)pid);
    send_notice(&w);
}

/* A reply that is too large becomes an error. */
static void finish(struct proto_writer *w, const struct proto_message *m)
{
    if (proto_finish(w)) return;
    proto_writer_clear(w);
    proto_write_error(w, m->id, FUSION_OUT_OF_MEMORY, m->method, "the result does not fit into a message");
}

static void answer(const struct proto_message *m)
{
    struct error e;
    struct proto_writer w;
    error_clear(&e);
    if (find_job(m->method)(m, &w, &e) == 0)
        finish(&w, m);
    else
        proto_write_error(&w, m->id, (fusion_status)e.code, e.object, e.reason);
    proto_send(JOB_FD, &w, 0);
    proto_writer_clear(&w);
}

/* In the job's own process. */
static void run_job(uint64_t care)
{
    job_care = care < JOB_NO_CODE ? (enum job_care)care : JOB_NO_CODE;
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason = "";
    if (!r || proto_receive(JOB_FD, r, &m, 0, &reason) != 0 || m.kind != PROTO_REQUEST) return;
    answer(&m);
}

/* ---- the broker's messages ---- */

static struct proto_reader *reader;

/* What has come already, while a job runs. As proto_reader_next. */
static int obey(void)
{
    struct proto_message m;
    const char *reason = "";
    int state;
    while ((state = proto_reader_next(reader, &m, &reason)) > 0) {
        uint64_t priority;
        if (m.kind == PROTO_NOTICE && strcmp(m.method, "priority") == 0 &&
            proto_get_uint(&m.params, "priority", &priority))
            worker_set_priority(priority);
        proto_message_clear(&m);
    }
    return state;
}

static bool hear(void)
{
    struct pollfd control = {CONTROL_FD, POLLIN, 0};
    int state = obey();
    if (state == 0 && poll(&control, 1, 0) > 0) state = proto_reader_fill(reader, CONTROL_FD) > 0 ? obey() : -1;
    return state == 0;
}

/* False: the broker has closed. */
static bool do_job(struct proto_message *m)
{
    static const struct worker_control control = {.fd = CONTROL_FD, .started = send_started, .hear = hear};
    struct worker_job order = {.connection = m->fds[0], .care = JOB_ANY, .priority = WORKER_FIRST};
    uint64_t used_us = 0;
    bool measures = false;
    m->fds[0] = -1;
    proto_get_uint(&m->params, "care", &order.care);
    proto_get_uint(&m->params, "priority", &order.priority);
    proto_get_bool(&m->params, "measures", &measures);
    if (worker_run(&order, &control, run_job, &used_us) != 0) return false;
    if ((measures && send_measured() != 0) || send_idle(used_us) != 0) return false;
    worker_prepare(run_job);
    return true;
}

/* `job`, with the job's connection, until the broker closes. */
static int serve(void)
{
    struct proto_message m;
    const char *reason = "";
    reader = proto_reader_new(PROTO_MAX_MESSAGE);
    int result = reader ? send_ready() : -1;
    if (result == 0) worker_prepare(run_job);
    for (bool open = result == 0; open && proto_receive(CONTROL_FD, reader, &m, 0, &reason) == 0;) {
        if (m.kind == PROTO_NOTICE && strcmp(m.method, "job") == 0 && m.n_fds == 1) open = do_job(&m);
        proto_message_clear(&m);
    }
    worker_discard();
    proto_reader_free(reader);
    return result;
}

int main(void)
{
    if (process_enter() != 0) return EXIT_FAILURE;
    int result = devices_init() ? confine_prepare(process_folder()) : -1;
    if (result == 0) result = serve();
    process_leave();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
