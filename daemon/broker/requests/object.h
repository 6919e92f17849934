/* Objects: the jobs that make them of kernels, and what comes of these. */
#pragma once

#include "daemon/broker/core/code.h"
#include "daemon/broker/session/gpus.h"
#include "daemon/broker/session/session.h"

/* What a compiler made of a kernel. */
struct object {
    struct blob_value value;
    const void *bytes; /* in the value */
    size_t size;
    uint64_t lanes;
    char *effort;
    char *assembly; /* NULL where it was not asked for */
};

/* Not of the work-group's size: the code takes it when it is launched, so that every range shares one object. */
struct hash object_hash(const struct hash *target, const struct gpu *gpu, const msgpack_object *kernel);
/* Reads a job's result or an entry of the cache; false: it is not understood, or without the assembly that is asked
   for. To be cleared either way. */
bool object_read(struct object *object, const struct blob *blob, bool wants_assembly);
void object_clear(struct object *object);
/* The job that makes the object, which may be under way already. gpu: that it is for; NULL: none. NULL with the
   reason. */
struct job *object_job(struct session *s, struct pool_client *client, const struct hash *hash, const struct gpu *gpu,
                       const msgpack_object *kernel, bool keep_assembly, struct error *error);
