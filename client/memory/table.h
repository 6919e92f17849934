/* The memories of a session: of buffers, images and USM allocations, by number and by address. */
#pragma once

#include "client/session/objects.h"
#include "client/session/wait.h"

/* A piece of memory shared with the executor. First member of a buffer, and so of an image. */
struct memory {
    fusion_session *session;
    char *name;  /* NULL: a USM allocation */
    bool named;  /* by the user */
    uint64_t id; /* 0: not in the table */
    uint64_t bytes;
    uint64_t lead;        /* bytes of the memory file before them */
    void *map;            /* the data; NULL: no memory taken yet */
    uint32_t late_attach; /* the request to attach it whose reply is still to come; 0: none */
    void *late_map;
    bool usm;
    struct client_open uses;        /* submissions that use it */
    uint32_t host;                  /* what this process may do with it: enum ring_host */
    bool on_device;                 /* a device may have a copy of the contents, */
    bool host_is_old;               /* and be alone with them */
    fusion_buffer *buffer;          /* NULL for USM */
    const fusion_image_desc *image; /* NULL: it is none */
};

/* Makes the memory's id. All of these with the session locked, but for the first and the third. */
fusion_status client_memory_register(fusion_session *s, struct memory *m);
struct memory *client_memory_find(fusion_session *s, uint64_t id); /* NULL: it was destroyed */
void client_memory_unregister(struct memory *m);
/* The number that only this memory of the session has, for names. */
uint64_t client_memory_serial(const struct memory *m);
const char *client_memory_name(const struct memory *m);
void client_memory_unmap(const struct memory *m, void *map); /* NULL is fine */

/* USM allocations, sorted by address. */
fusion_status client_usm_insert(fusion_session *s, struct memory *m);
struct memory *client_usm_find(fusion_session *s, const void *pointer); /* in which it lies; NULL: none */
/* The one that begins there, which is found no more. NULL: none does. */
struct memory *client_usm_remove(fusion_session *s, const void *pointer);
