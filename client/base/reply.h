/* Values of a reply by their keys. What is missing or of another type reads as nothing. */
#pragma once

#include "client/base/pool.h"
#include "proto/fields.h"

const char *client_reply_string(struct client_pool *p, const msgpack_object *o); /* "" where it is none */
const char *client_reply_text(struct client_pool *p, const msgpack_object *map, const char *key);
msgpack_object_array client_reply_list(const msgpack_object *map, const char *key);
uint32_t client_reply_u32(const msgpack_object *map, const char *key); /* larger ones as UINT32_MAX */
