/* One compiler process: started, given jobs one at a time, measured, ended. */
#pragma once

#include "daemon/broker/compile/jobs.h"
#include "daemon/broker/core/broker.h"
#include "proto/frame.h"
#include "proto/writer.h"

struct compiler;

struct compiler_events {
    void (*ready)(void *data, const msgpack_object *params); /* the notice `ready` has come */
    /* The reply to the job; cleared afterwards. It can be given no other one until `idle`. */
    void (*done)(void *data, const struct proto_message *reply);
    /* It has measured the machine, as compiler_run() wanted: before `idle`. */
    void (*measured)(void *data, const void *figures, size_t size);
    /* Nothing is left of the job, which has used so much processor time. */
    void (*idle)(void *data, uint64_t used_ns);
    /* It has died, or was ended for breaking a rule: why, with nothing left of it. It is freed afterwards. status:
       FUSION_OUT_OF_MEMORY where its answer was more than the job's user may make the daemon hold, else
       FUSION_COMPILER. */
    void (*ended)(void *data, fusion_status status, const char *why);
};

/* NULL: cannot be started, with a line in the log. */
struct compiler *compiler_start(struct broker *broker, const struct compiler_events *events, void *data);
/* Ends it with no callback. NULL is fine. */
void compiler_stop(struct compiler *compiler);
/* How a job is done. */
struct compiler_order {
    uint32_t care; /* 0, and more after it has ended compilers */
    enum job_priority priority;
    bool measures; /* behind it the compiler measures the machine */
};

/* Gives it a job (a finished request, cleared). What it answers is charged to the user while it comes. */
void compiler_run(struct compiler *compiler, struct user *user, uint32_t id, struct proto_writer *request,
                  const struct compiler_order *order);
/* Another one from now on, while the job runs. */
void compiler_set_priority(struct compiler *compiler, enum job_priority priority);
/* Kills it; `ended` comes with this reason. */
void compiler_kill(struct compiler *compiler, const char *why);
uint64_t compiler_memory(const struct compiler *compiler);  /* resident bytes */
uint64_t compiler_used_ns(const struct compiler *compiler); /* processor time of the job up to now */
