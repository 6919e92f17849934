/*
 * What the daemon knows of one client: its connection, its objects, its executor, its requests that take time. What a
 * request asks for is done above, by those that are told of it (struct session_events).
 */
#pragma once

#include "daemon/broker/compile/pool.h"
#include "daemon/broker/core/broker.h"
#include "daemon/broker/core/peer.h"
#include "daemon/broker/session/executor.h"
#include "daemon/broker/session/operation.h"
#include "ir/base/error.h"
#include "ir/base/map.h"
#include "proto/frame.h"
#include "proto/writer.h"

/* What is above a session, and knows what its requests mean. */
struct session_events {
    /* The first request. False: the session ends. */
    bool (*greeted)(struct session *s, const struct proto_message *m);
    void (*request)(struct session *s, struct proto_message *m);
    /* Of the executor, about a buffer or an executable. */
    void (*replied)(struct session *s, enum executor_subject subject, uint64_t id, const struct proto_message *reply);
    /* Spares of an executable run. */
    void (*spares_run)(struct session *s, uint64_t executable);
    /* What an executor says of binaries of drivers for an executable. */
    void (*binaries)(struct session *s, uint64_t executable, const msgpack_object *told);
    /* A new executor is to be given all that the former one had. */
    void (*restarted)(struct session *s, struct executor *executor);
    /* Its objects are to be freed. */
    void (*ended)(struct session *s);
};

/*
 * Where what runs on GPUs runs: an executor of its own, as drivers need more rights than kernels are to have. The
 * session's executor is its client, which passes on what the session's ring has for it, in the ring's order.
 */
struct gpu_side {
    struct ring *ring; /* NULL: nothing has needed it yet */
    int ring_fd;
    struct executor *executor;
};

struct session {
    LIST_ENTRY(session) link;
    struct broker *broker;
    const struct session_events *events;
    struct peer *peer;
    uv_timer_t timer; /* until hello: how long it may take. Then: how long replies may lie. Ends it from the loop */
    uint64_t sent;    /* of the connection's bytes, when the timer was started for replies */
    uint64_t id;
    char *name;
    uid_t uid; /* of the process that connected, as the kernel says */
    pid_t pid;
    struct user *user;
    bool admitted, greeted, ending;
    struct ring *ring; /* NULL until hello */
    int ring_fd;
    int event_fd, client_event_fd; /* where completions are told, and the client's end until it has it */
    uint32_t time_limit_ms;        /* of a submission */
    struct executor *executor;
    struct gpu_side gpu;
    int cgroup;                     /* where its executors are; -1: where the daemon is */
    struct operation *entering;     /* who waits until one is there; NULL: nobody */
    struct proto_message *deferred; /* a request that waits until it is known what GPUs there are; NULL: none */
    struct pool_client pool_client, background;         /* the second: what nobody waits for */
    struct map modules, buffers, executables, upgrades; /* as in requests/ */
    uint64_t bytes;                                     /* that its objects take in the daemon */
    uint64_t executor_bytes;                            /* that its executor had to itself when last looked at */
    struct operations operations;
};

enum {
    SESSION_MAX_BYTES = 256 << 20,          /* of the objects of a session */
    SESSION_MAX_OPERATIONS = 64,            /* requests under way, ... */
    SESSION_MAX_OPERATION_BYTES = 64 << 20, /* ... and their bytes, before reading pauses */
    SESSION_PAUSE_QUEUE = 1 << 20,          /* as many unread bytes of replies pause it, too, */
    SESSION_STALL_MS = 10000,               /* and end it when none is taken for so long; */
    SESSION_MAX_QUEUE = 96 << 20            /* as many end it at once */
};

/* A client that has connected; fd is taken. */
void session_new(struct broker *broker, int fd, const struct session_events *events);
/* Ends it from the loop, with last words to the client where reason is not NULL. */
void session_end(struct session *s, fusion_status status, const char *object, const char *reason);
/* Ends it now. */
void session_free(struct session *s);
/* The compilers are known now, or known to be absent: requests are read. */
void session_pool_changed(struct broker *broker);
/* Reads more requests, or not, as things are. */
void session_update_reading(struct session *s);
/* The ring has been made: with an executor for it the session has begun. False: out of memory. */
bool session_begin(struct session *s);
/* Makes the side of GPUs where it is not there yet, and gives it what the session's executor has. */
bool session_open_gpu(struct session *s, struct error *error);
/* Takes a request over, which is handled again when it is known what GPUs there are; nothing is read until then. */
void session_defer(struct session *s, struct proto_message *m);
void session_gpus_changed(struct broker *broker);
/* What an object costs, charged to the session and its user, unless that is too much (error). */
bool session_charge(struct session *s, const struct user_cost *cost, struct error *error);
void session_refund(struct session *s, const struct user_cost *cost);
/* Looks at what its executor has to itself, and ends the session where that is more than its user may have. */
void session_weigh(struct session *s);
/* A line in the log about the session: its number, user, process and name come first. kernel: which of its kernels it
   is about, or NULL. */
__attribute__((format(printf, 4, 5))) void session_log(struct session *s, int priority, const char *kernel,
                                                       const char *format, ...);
/* Sends and clears. */
void session_send(struct session *s, struct proto_writer *w);
void session_fail(struct session *s, uint32_t request, const struct error *error);
