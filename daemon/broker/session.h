/* What the daemon knows of one client: its connection, its objects, its executor, its requests that take time. */
#pragma once

#include "daemon/broker/broker.h"
#include "daemon/broker/executor.h"
#include "daemon/broker/hash.h"
#include "daemon/broker/peer.h"
#include "daemon/broker/pool.h"
#include "ir/base/map.h"
#include "daemon/broker/user.h"

/* A request whose reply comes later; the first member of what its handler keeps. */
struct operation {
    LIST_ENTRY(operation) link;
    struct session *session;
    uint32_t request; /* id */
    size_t bytes;     /* of the request: many large ones hold up the reading of more */
    struct user_cost held; /* what it makes the daemon hold until it ends, charged to the user */
    uint64_t started_ns;
    void (*cancel)(struct operation *operation); /* frees it, with no reply; it has left the list already */
};

struct module {
    uint64_t id;
    char *name;
    struct blob *result; /* of the compiler */
    const void *ir;      /* in it */
    size_t ir_size;
    struct hash hash;
};

struct buffer {
    uint64_t id, bytes, address;
    uint64_t size; /* of its memory, all of it: what others can make us hold */
    int fd;
    struct operation *attaching; /* NULL: the executor has it */
};

struct executable {
    uint64_t id;
    struct blob *load; /* params of executable.load */
    int *fds;          /* the objects of the launches, sealed */
    uint32_t n_fds;
    struct user_cost cost;
    uint32_t replies_due; /* while it is being loaded */
    struct operation *loading;
    void (*loaded)(struct operation *loading, const struct proto_message *failure); /* NULL: without a failure */
};

struct session {
    LIST_ENTRY(session) link;
    struct broker *broker;
    struct peer *peer;
    uv_timer_t timer; /* until hello: how long it may take. Then: how long replies may lie. Ends it from the loop */
    uint64_t sent;    /* of the connection's bytes, when the timer was started for replies */
    uint64_t id;
    char *name;
    uid_t uid; /* of the process that connected, as the kernel says */
    pid_t pid;
    struct user *user;
    bool admitted, greeted, ending;
    char refusal[256]; /* why session_charge said no */
    struct ring *ring; /* NULL until hello */
    int ring_fd;
    int event_fd, client_event_fd; /* where completions are told, and the client's end until it has it */
    uint32_t time_limit_ms; /* of a submission */
    struct executor *executor;
    struct pool_client pool_client;
    struct map modules, buffers, executables;
    uint64_t bytes; /* that its objects take in the daemon */
    uint64_t executor_bytes; /* that its executor had to itself when last looked at */
    LIST_HEAD(, operation) operations;
    uint32_t n_operations;
    size_t operation_bytes;
};

enum {
    SESSION_MAX_BYTES = 256 << 20,          /* of the objects of a session */
    SESSION_MAX_OPERATIONS = 64,            /* requests under way, ... */
    SESSION_MAX_OPERATION_BYTES = 64 << 20, /* ... and their bytes, before reading pauses */
    SESSION_PAUSE_QUEUE = 1 << 20,          /* as many unread bytes of replies pause it, too, */
    SESSION_STALL_MS = 10000,               /* and end it when none is taken for so long; */
    SESSION_MAX_QUEUE = 96 << 20            /* as many end it at once */
};

/* ---- session.c ---- */

/* A client that has connected; fd is taken. */
void session_new(struct broker *broker, int fd);
/* Ends it from the loop, with last words to the client where reason is not NULL. */
void session_end(struct session *s, fusion_status status, const char *object, const char *reason);
/* Ends it now. */
void session_free(struct session *s);
/* The compilers are known now, or known to be absent: requests are read. */
void session_pool_changed(struct broker *broker);
/* Reads more requests, or not, as things are. */
void session_update_reading(struct session *s);
void session_start_executor(struct session *s);
const struct executor_events *session_executor_events(void);
/* What an object costs, charged to the session and its user. NULL, or why it is refused. */
const char *session_charge(struct session *s, const struct user_cost *cost);
void session_refund(struct session *s, const struct user_cost *cost);
/* Looks at what its executor has to itself, and ends the session where that is more than its user may have. */
void session_weigh(struct session *s);
/* A line in the log about the session: its number, user, process and name come first. */
__attribute__((format(printf, 2, 3))) void session_log(struct session *s, const char *format, ...);
/* Sends and clears. */
void session_send(struct session *s, struct proto_writer *w);
void session_fail(struct session *s, uint32_t request, fusion_status status, const char *object, const char *reason);

/* ---- operations (session.c) ---- */

void operation_begin(struct operation *o, struct session *s, const struct proto_message *m,
                     void (*cancel)(struct operation *operation));
/* It holds so much more until it ends. NULL, or why its user may not. */
const char *operation_hold(struct operation *o, const struct user_cost *cost);
/* It holds nothing more: what it held is about to be charged to an object. */
void operation_release(struct operation *o);
/* It is about to be answered: takes it from the list, and gives back what it held. */
void operation_end(struct operation *o);

/* ---- hello.c ---- */

bool session_greet(struct session *s, const struct proto_message *m); /* false: the session ends */

/* ---- requests.c ---- */

void session_request(struct session *s, struct proto_message *m);

/* ---- the handlers that have their own files ---- */

/* A failure for the client; always false, so that handlers can end with it. */
__attribute__((format(printf, 5, 6))) bool request_fail(struct session *s, const struct proto_message *m,
                                                        fusion_status status, const char *object, const char *format,
                                                        ...);
/* Parameters; a failure is sent where one is missing. */
bool request_uint(struct session *s, const struct proto_message *m, const char *key, uint64_t *value);
bool request_bool(struct session *s, const struct proto_message *m, const char *key, bool *value); /* false if absent */
bool request_bytes(struct session *s, const struct proto_message *m, const char *key, const void **bytes, size_t *size);
bool request_list(struct session *s, const struct proto_message *m, const char *key, const msgpack_object_array **list);
/* An empty result. */
void request_done(struct session *s, uint32_t request);
/* What the compilers are made for; a failure is sent where there are none. */
bool request_target(struct session *s, const struct proto_message *m, struct hash *target);

void module_load(struct session *s, struct proto_message *m); /* modules.c */
void module_link(struct session *s, struct proto_message *m);
void module_text(struct session *s, struct proto_message *m);
void module_release(struct session *s, struct proto_message *m);
void modules_clear(struct session *s);

void buffer_attach(struct session *s, struct proto_message *m); /* buffers.c */
void buffer_release(struct session *s, struct proto_message *m);
void buffers_clear(struct session *s);
void buffers_replay(struct session *s); /* sends all to a new executor */
void buffer_replied(struct session *s, uint64_t id, const struct proto_message *reply);

void graph_finalize(struct session *s, struct proto_message *m); /* finalize.c */

/* executables.c. Takes load, fds and their array. Answers through loaded, perhaps after a new executor. NULL, or why it
   is refused: then nothing is taken. */
const char *executable_add(struct session *s, uint64_t id, struct blob *load, int *fds, uint32_t n_fds,
                           struct operation *loading,
                           void (*loaded)(struct operation *loading, const struct proto_message *failure));
void executable_remove(struct session *s, uint64_t id);
void executable_release(struct session *s, struct proto_message *m);
void executables_clear(struct session *s);
/* The executor needs to keep the module's variables for the executables that it has alone. */
void executables_forget_module(struct session *s, uint64_t module);
void executables_replay(struct session *s);
void executable_replied(struct session *s, uint64_t id, const struct proto_message *reply);

void status_reply(struct session *s, struct proto_message *m); /* status.c */
