/* The daemon's status: counters, and who is connected. Of other users one sees sums, not who they are. */
#pragma once

#include "daemon/broker/session/session.h"
#include "proto/frame.h"

/* Method. */
void status_reply(struct session *s, struct proto_message *m);
