/* What handlers of requests share: reading parameters, and short answers. */
#pragma once

#include "daemon/broker/core/hash.h"
#include "daemon/broker/session/session.h"
#include "proto/frame.h"

/* A failure for the client; always false, so that handlers can end with it. */
__attribute__((format(printf, 5, 6))) bool request_fail(struct session *s, const struct proto_message *m,
                                                        fusion_status status, const char *object, const char *format,
                                                        ...);
/* Parameters; a failure is sent where one is missing. */
bool request_uint(struct session *s, const struct proto_message *m, const char *key, uint64_t *value);
bool request_bool(struct session *s, const struct proto_message *m, const char *key, bool *value); /* false if absent */
bool request_bytes(struct session *s, const struct proto_message *m, const char *key, const void **bytes, size_t *size);
bool request_list(struct session *s, const struct proto_message *m, const char *key, const msgpack_object_array **list);
/* An empty result. */
void request_done(struct session *s, uint32_t request);
/* What the compilers are made for; a failure is sent where there are none. */
bool request_target(struct session *s, const struct proto_message *m, struct hash *target);
