/* The daemon's counters as OpenMetrics text, over the socket and in a file. */
#pragma once

#include "daemon/broker/session/session.h"
#include "proto/frame.h"

/* Method: of other users one sees sums, not who they are. */
void metrics_reply(struct session *s, struct proto_message *m);

/* The file that the options name, if they do, is written now, and again and again: each time as a whole. */
void metrics_begin(struct broker *broker);
/* It is written no more, and gone: as long as the options still name it. */
void metrics_end(struct broker *broker);
