/* Bytes with a reference count, and msgpack in them. */
#include "daemon/broker/core/blob.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/cursor.h"
#include "proto/limits.h"

struct blob *blob_new(const void *bytes, size_t size)
{
    struct blob *blob = malloc(sizeof *blob + size);
    if (!blob) return NULL;
    blob->references = 1;
    blob->size = size;
    if (bytes && size > 0) memcpy(blob->data, bytes, size);
    return blob;
}

struct blob *blob_pack(const msgpack_object *object)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    struct blob *blob = NULL;
    if (msgpack_pack_object(&packer, *object) == 0) blob = blob_new(buffer.data, buffer.size);
    msgpack_sbuffer_destroy(&buffer);
    return blob;
}

struct blob *blob_ref(struct blob *blob)
{
    blob->references++;
    return blob;
}

void blob_unref(struct blob *blob)
{
    if (blob && --blob->references == 0) free(blob);
}

bool blob_parse(const struct blob *blob, struct blob_value *value)
{
    return blob_parse_bytes(blob->data, blob->size, value);
}

bool blob_parse_bytes(const void *bytes, size_t size, struct blob_value *value)
{
    size_t offset = 0;
    *value = (struct blob_value){0};
    if (cursor_check(bytes, size, PROTO_MAX_DEPTH, PROTO_MAX_OBJECTS)) return false;
    value->zone = msgpack_zone_new(1024);
    if (value->zone && msgpack_unpack(bytes, size, &offset, value->zone, &value->root) == MSGPACK_UNPACK_SUCCESS)
        return true;
    blob_value_clear(value);
    return false;
}

void blob_value_clear(struct blob_value *value)
{
    if (value->zone) msgpack_zone_free(value->zone);
    *value = (struct blob_value){0};
}
