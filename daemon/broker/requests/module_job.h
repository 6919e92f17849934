/* A module, and a request that waits for a compiler to make one, or its text. */
#pragma once

#include "daemon/broker/session/session.h"
#include "proto/frame.h"
#include "proto/writer.h"

struct module {
    uint64_t id;
    char *name;
    struct blob *result; /* of the compiler */
    const void *ir;      /* in it */
    size_t ir_size;
    struct hash hash;
    struct blob_value code; /* of a bundle: the result, read; with no code of launches nothing is kept */
    const msgpack_object_array *objects, *binaries; /* in it, for the processor and for GPUs; NULL: none */
};

struct module_job {
    struct operation operation;
    struct job_waiter waiter;
    struct job_key key;
    char *name;
};

/* What the compiler is asked for. */
struct module_request {
    const char *method;
    void (*pack)(struct proto_writer *w, const struct module_job *j, const void *data); /* the params */
    const void *data;
};

/* The key is still to be filled in. NULL: a failure has been sent. */
struct module_job *module_job_new(struct session *s, struct proto_message *m, const char *name);
void module_job_free(struct module_job *j);
/* Answers with a failure; the job is gone. */
void module_job_fail(struct module_job *j, const struct error *error);
/* Asks a compiler, or waits for an equal job. */
void module_job_run(struct module_job *j, const struct module_request *r, job_done_fn *done);
/* Takes the module from the cache or asks for it, keeps it and answers. */
void module_job_make(struct module_job *j, const struct module_request *r);

void module_free(struct module *m);
/* What it takes of the daemon. */
struct user_cost module_cost(const struct module *m);
