/* Reading the maps of received messages. */
#pragma once

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reading of map entries; false where the key is missing or has another type. Strings and bytes point
   into the message. */
const msgpack_object *proto_get(const msgpack_object *map, const char *key);
bool proto_get_uint(const msgpack_object *map, const char *key, uint64_t *value);
bool proto_get_bool(const msgpack_object *map, const char *key, bool *value);
bool proto_get_bytes(const msgpack_object *map, const char *key, const void **bytes, size_t *size); /* bin */
/* A copy to be freed; false where longer than max or with a NUL inside. */
bool proto_get_string(const msgpack_object *map, const char *key, char **value, size_t max);
