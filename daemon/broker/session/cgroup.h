/*
 * The control group (version 2) that a client has for its kernels: its executors run there, under its limits. It has to
 * be the client's own, as the system delegates them.
 */
#pragma once

#include "daemon/broker/session/session.h"

/* `session.cgroup`, with the group's folder as descriptor: before anything that an executor is started for. Answered
   when an executor is in the group. */
void cgroup_enter(struct session *s, struct proto_message *m);
/* The executor is there. */
void cgroup_replied(struct session *s, const struct proto_message *reply);
/* Another executor has taken its place. */
void cgroup_replay(struct session *s);
