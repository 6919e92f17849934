/* Executables of a session: what the executor needs to run them, kept for the next executor. */
#pragma once

#include "daemon/broker/core/blob.h"
#include "daemon/broker/core/code.h"
#include "daemon/broker/session/gpus.h"
#include "daemon/broker/session/session.h"
#include "proto/frame.h"

/* An executable has been loaded, or not: failure is NULL or the executor's reply. */
typedef void executable_loaded_fn(struct operation *loading, const struct proto_message *failure);

/* What an executable is made of: load (the params of executable.load), the code of the launches and its array, and of
   one for a GPU the keys of their objects. */
struct executable_parts {
    struct blob *load;
    struct code **code;
    uint32_t n_code;
    const struct gpu *gpu; /* NULL: it runs on none */
    struct hash *objects;  /* NULL without a GPU */
};

/* Takes the parts. Answers through loaded, perhaps after a new executor. False: it is refused, and nothing is taken. */
bool executable_add(struct session *s, uint64_t id, const struct executable_parts *parts, struct operation *loading,
                    executable_loaded_fn *loaded, struct error *error);
/* The key of the object of a launch, and the GPU that it is for. NULL: it is for none, or there is no such launch. */
const struct hash *executable_object(const struct session *s, uint64_t id, uint64_t launch, const struct gpu **gpu);
/* Of so many launches that an executor tells of, as many as the executable has. */
uint64_t executable_launches(const struct session *s, uint64_t id, uint64_t told);
bool executable_has(const struct session *s, uint64_t id);
/* Other code for a launch of one that is there: it goes to the executor, whose answer is told as
   EXECUTOR_REPLACEMENT and then settled here. A new executor gets what was taken, and must be offered the rest again.
   False: it is refused. */
bool executable_offer(struct session *s, uint64_t id, uint32_t launch, const struct code *code, struct error *error);
void executable_offer_again(struct session *s, uint64_t id, uint32_t launch, const struct code *code);
void executable_settle(struct session *s, uint64_t id, uint32_t launch, struct code *code, bool taken);
void executable_remove(struct session *s, uint64_t id);
/* Method. */
void executable_release(struct session *s, struct proto_message *m);
void executables_clear(struct session *s);
/* The executor needs to keep the module's variables for the executables that it has alone. */
void executables_forget_module(struct session *s, uint64_t module);
void executables_replay(struct session *s, struct executor *executor); /* sends to a new one what it had */
/* The executor's answer. */
void executable_replied(struct session *s, uint64_t id, bool relay, const struct proto_message *reply);
