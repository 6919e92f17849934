/* Buffers. */
#pragma once

#include "client/memory/table.h"

struct fusion_buffer {
    struct memory memory; /* first */
    fusion_type type;
    uint64_t count;
    unsigned properties;
};

/* Gives a buffer whose size and type are set its place in the session, and its name (NULL: one is made). */
fusion_status client_buffer_open(fusion_session *s, fusion_buffer *b, const char *name);
