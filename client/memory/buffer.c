/* Buffers. */
#include "client/memory/buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/memory/memory.h"
#include "client/memory/properties.h"
#include "proto/lead.h"
#include "proto/limits.h"

fusion_status client_buffer_open(fusion_session *s, fusion_buffer *b, const char *name)
{
    char made[32];
    b->memory.buffer = b;
    fusion_status status = client_memory_register(s, &b->memory);
    if (status != FUSION_SUCCESS) return status;
    snprintf(made, sizeof made, "%s%" PRIu64, b->memory.image ? "image" : "buffer", client_memory_serial(&b->memory));
    b->memory.name = strdup(name ? name : made);
    b->memory.named = name != NULL;
    if (b->memory.name) return FUSION_SUCCESS;
    client_memory_unregister(&b->memory);
    return client_no_memory(name ? name : made);
}

/* What is a whole number of larger vectors begins at a multiple of those, too, since it ends at a page. */
static uint64_t lead_of(uint64_t bytes, uint32_t width, fusion_type type)
{
    bool exact = bytes <= PROTO_LEAD_SMALL && type != FUSION_BYTES;
    return proto_lead(bytes, exact ? width : PROTO_LEAD_ALIGNMENT);
}

fusion_status fusion_buffer_create(fusion_session *s, const char *name, fusion_type type, uint64_t count,
                                   unsigned properties, fusion_buffer **buffer)
{
    const char *object = name ? name : "buffer";
    uint32_t width = client_type_bytes(type);
    if (!width) return client_error(FUSION_INVALID, object, "unknown element type %d", (int)type);
    if (count == 0 || count > UINT64_C(1) << 40)
        return client_error(FUSION_INVALID, object, "a count of 1 to 2^40 elements is needed, not %" PRIu64, count);
    if (strlen(object) > PROTO_MAX_NAME)
        return client_error(FUSION_INVALID, "buffer", "the name is longer than %d bytes", PROTO_MAX_NAME);
    fusion_status status = client_check_properties(properties, object);
    if (status != FUSION_SUCCESS) return status;

    fusion_buffer *b = calloc(1, sizeof *b);
    if (!b) return client_no_memory(object);
    b->memory.bytes = count * width;
    b->memory.lead = lead_of(b->memory.bytes, width, type);
    b->type = type;
    b->count = count;
    b->properties = properties;
    status = client_buffer_open(s, b, name);
    if (status == FUSION_SUCCESS)
        *buffer = b;
    else
        free(b);
    return status;
}

uint64_t fusion_buffer_bytes(const fusion_buffer *b)
{
    return b->memory.bytes;
}

bool fusion_buffer_has_memory(const fusion_buffer *b)
{
    return b->memory.map != NULL;
}

void fusion_buffer_destroy(fusion_buffer *b)
{
    if (!b) return;
    client_memory_drop(&b->memory);
    free(b->memory.name);
    free(b);
}
