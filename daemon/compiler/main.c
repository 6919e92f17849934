/*
 * fusiond-compiler: is told of one job at a time by the broker, over descriptor 3. Each job has a connection of its
 * own, and a process of its own that alone reads it: a copy of this one, which never sees a job.
 */
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

static int send_idle(void)
{
    struct proto_writer w;
    proto_begin_notice(&w, "idle");
    proto_pack_map(&w, 0);
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
    struct proto_reader *reader = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason = "";
    if (!reader || proto_receive(JOB_FD, reader, &m, 0, &reason) != 0 || m.kind != PROTO_REQUEST) return;
    answer(&m);
}

/* The broker's messages: `job`, with the job's connection. */
static int serve(void)
{
    struct proto_reader *reader = proto_reader_new(PROTO_MAX_MESSAGE);
    int result = reader ? send_ready() : -1;
    if (result == 0) worker_prepare(run_job);
    while (result == 0) {
        struct proto_message m;
        const char *reason = "";
        if (proto_receive(CONTROL_FD, reader, &m, 0, &reason) != 0) break; /* the broker closed: the end */
        if (m.kind == PROTO_NOTICE && strcmp(m.method, "job") == 0 && m.n_fds == 1) {
            int connection = m.fds[0];
            m.fds[0] = -1;
            uint64_t care = JOB_ANY;
            bool background = false;
            proto_get_uint(&m.params, "care", &care);
            proto_get_bool(&m.params, "background", &background);
            if (background) worker_step_back();
            if (worker_run(CONTROL_FD, connection, care, run_job, send_started) != 0) break;
            result = send_idle();
            worker_prepare(run_job);
        }
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
