/* Modules of a session: kernels as the compiler has understood them. The broker only keeps the bytes. */
#pragma once

#include "daemon/broker/session/session.h"
#include "proto/frame.h"

/* Methods. */
void module_load(struct session *s, struct proto_message *m);
void module_link(struct session *s, struct proto_message *m);
void module_text(struct session *s, struct proto_message *m);
void module_release(struct session *s, struct proto_message *m);

void modules_clear(struct session *s);
