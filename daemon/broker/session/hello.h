/* The first request: agrees on a version, gives the client its ring. */
#pragma once

#include "daemon/broker/session/session.h"
#include "proto/frame.h"

/* False: the session ends. */
bool hello_answer(struct session *s, const struct proto_message *m);
