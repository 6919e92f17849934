/* Executables of a session: what the executor needs to run them, kept for the next executor. */
#pragma once

#include "daemon/broker/core/blob.h"
#include "daemon/broker/session/session.h"
#include "proto/frame.h"

/* An executable has been loaded, or not: failure is NULL or the executor's reply. */
typedef void executable_loaded_fn(struct operation *loading, const struct proto_message *failure);

/* Takes load (the params of executable.load), fds (the objects of the launches, sealed) and their array. Answers
   through loaded, perhaps after a new executor. NULL, or why it is refused: then nothing is taken. */
const char *executable_add(struct session *s, uint64_t id, struct blob *load, int *fds, uint32_t n_fds,
                           struct operation *loading, executable_loaded_fn *loaded);
void executable_remove(struct session *s, uint64_t id);
/* Method. */
void executable_release(struct session *s, struct proto_message *m);
void executables_clear(struct session *s);
/* The executor needs to keep the module's variables for the executables that it has alone. */
void executables_forget_module(struct session *s, uint64_t module);
void executables_replay(struct session *s); /* sends all to a new executor */
/* The executor's answer. */
void executable_replied(struct session *s, uint64_t id, const struct proto_message *reply);
