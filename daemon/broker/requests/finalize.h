/*
 * graph.finalize, step by step: the plan (cache or compiler), the code of each launch (launches.h), loading it into the
 * executor and the reply (load.h). Any failure ends it with that failure.
 */
#pragma once

#include "daemon/broker/session/session.h"
#include "proto/frame.h"

/* Method. */
void graph_finalize(struct session *s, struct proto_message *m);
