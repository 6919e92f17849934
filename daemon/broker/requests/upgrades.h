/*
 * The way up from the quick tier: the code of launches that are interpreted is made when the client has its handle
 * already, and replaces the kernels in the executor and for executors to come. Where that fails they stay as they are.
 */
#pragma once

#include "daemon/broker/requests/finalization.h"

/* f has been answered, and has quick launches, or spares without code. */
void upgrades_begin(struct finalize *f);
/* Method: which tier the launches of an executable are in. */
void executable_tiers(struct session *s, struct proto_message *m);
/* Spares of the executable run: their code is made, too. */
void upgrades_make_spares(struct session *s, uint64_t executable);
/* The executor's answer to the code that it was offered first. */
void upgrades_replied(struct session *s, uint64_t executable, const struct proto_message *reply);
/* A new executor has been given the executables. */
void upgrades_replay(struct session *s);
/* Of an executable that goes; of all. Jobs that nobody else waits for are dropped. */
void upgrades_end(struct session *s, uint64_t executable);
void upgrades_clear(struct session *s);
