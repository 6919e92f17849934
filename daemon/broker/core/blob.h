/* Bytes with a reference count: results of compilers, shared by cache, modules and requests. */
#pragma once

#include <msgpack.h>
#include <stddef.h>
#include <stdint.h>

struct blob {
    uint32_t references;
    size_t size;
    uint8_t data[];
};

struct blob *blob_new(const void *bytes, size_t size); /* bytes NULL: uninitialized. NULL: out of memory */
struct blob *blob_pack(const msgpack_object *object);  /* the object as msgpack */
struct blob *blob_ref(struct blob *blob);
void blob_unref(struct blob *blob);

/* A blob that holds one msgpack value, read. Objects point into the blob. */
struct blob_value {
    msgpack_zone *zone;
    msgpack_object root;
};
bool blob_parse(const struct blob *blob, struct blob_value *value); /* false: not well-formed */
bool blob_parse_bytes(const void *bytes, size_t size, struct blob_value *value);
void blob_value_clear(struct blob_value *value);
