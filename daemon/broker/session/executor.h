/*
 * A session's executor process. It is started again when it dies: what the session had attached and loaded is sent
 * anew, pending submissions are completed with the reason.
 */
#pragma once

#include "daemon/broker/core/broker.h"
#include "proto/frame.h"
#include "proto/ring.h"
#include "proto/writer.h"

struct executor;

enum executor_subject {
    EXECUTOR_BUFFER,
    EXECUTOR_EXECUTABLE,
    EXECUTOR_RELAY,
    EXECUTOR_REPLACEMENT,
    EXECUTOR_CGROUP,
    EXECUTOR_NOTHING
};

/* What it said last of the submission that ended it; empty texts: nothing. */
struct executor_fault {
    char object[RING_OBJECT_BYTES], reason[RING_REASON_BYTES];
    const char *kernel; /* in object; NULL: it is about none */
};

struct executor_events {
    /* The reply to a request about this buffer or executable. */
    void (*replied)(void *data, enum executor_subject subject, uint64_t id, const struct proto_message *reply);
    /* Spares of this executable run. */
    void (*spares_run)(void *data, uint64_t executable);
    /* What it says of binaries of drivers for this executable. */
    void (*binaries)(void *data, uint64_t executable, const msgpack_object *told);
    /* It has done, or taken, some of what it was asked, and is not busy any more (executor_is_busy). */
    void (*less_busy)(void *data);
    /* It has died; replies that were due will not come. */
    void (*lost)(void *data, fusion_status status, const char *reason, const struct executor_fault *fault);
    /* A new one runs: everything is to be sent again. */
    void (*restarted)(void *data);
    /* It will not run again. */
    void (*given_up)(void *data, fusion_status status, const char *reason);
};

/* ring and descriptors stay the caller's. gpu: what it runs runs on GPUs. client: the process whose kernels they are;
   when the executor starts, it goes behind others as that one does. user: who pays for what it says. Nothing runs
   before executor_start. NULL: out of memory. */
struct executor *executor_new(struct broker *broker, struct ring *ring, int ring_fd, int event_fd, bool gpu,
                              pid_t client, struct user *user, uint32_t time_limit_ms,
                              const struct executor_events *events, void *data);
void executor_free(struct executor *executor);
/* Its processes enter this control group, whose folder stays the caller's, open. Before it is started. */
void executor_live_in(struct executor *executor, int cgroup);
/* Has it been started, ever? */
bool executor_has_started(const struct executor *executor);
/* Starts it where it does not run yet. */
void executor_start(struct executor *executor);
/* Has it much to do that it was asked, or not even taken that? Nothing more is to be asked for a client then. NULL: no.
 */
bool executor_is_busy(const struct executor *executor);
/* Processor time that it has used since the last time. NULL is fine. */
uint64_t executor_measure(struct executor *executor);
/* Bytes of memory that it has to itself. NULL is fine. */
uint64_t executor_memory(const struct executor *executor);
/* How far it steps back behind others (priority.h). NULL is fine. */
void executor_step_to(struct executor *executor, int steps);
uint32_t executor_next_id(struct executor *executor);
/* Sends a request that was begun with this id; cleared. The reply comes as an event. */
void executor_request(struct executor *executor, uint32_t id, struct proto_writer *request,
                      enum executor_subject subject, uint64_t about);
