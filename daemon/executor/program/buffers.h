/* The session's attached buffers: client memory, mapped into this process. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/executor/program/device.h"
#include "ir/base/error.h"
#include "ir/base/map.h"

struct buffer {
    uint64_t id;
    uint8_t *memory; /* behind it nothing is mapped, as near as `lead` could bring it (proto/lead.h) */
    uint64_t bytes;
    dev_t device; /* with inode: which memory it is, however often it was attached */
    ino_t inode;
    struct device_memory of_device;
    bool lost; /* an executor that died had its contents, nobody else; only the thread that runs submissions changes it
                */
    struct ring *ring;
    /* private to buffers.c */
    uint64_t lead;     /* bytes of pages before the memory */
    bool empty;        /* a memfd without pages, when it came */
    void *reservation; /* memory and the guards around it */
    size_t reserved;
    _Atomic uint32_t references;
};

struct buffers {
    struct ring *ring; /* where it is noted whose contents are with a device */
    pthread_mutex_t lock;
    struct map by_id;
};

void buffers_init(struct buffers *b);
/* Before the first one is attached. */
void buffers_set_ring(struct buffers *b, struct ring *ring);
/* The memory of a client. */
struct buffer_place {
    int fd; /* stays the caller's */
    uint64_t offset, bytes;
    uint64_t address; /* where the file's first byte is to be; 0: anywhere */
};
/* 0, or -1 with the error. */
int buffers_attach(struct buffers *b, uint64_t id, const struct buffer_place *place, struct error *e);
/* Its memory stays mapped until the last reference is gone. */
int buffers_detach(struct buffers *b, uint64_t id, struct error *e);
/* A reference to the buffer, or NULL. */
struct buffer *buffers_get(struct buffers *b, uint64_t id);
/* A reference to the one that the address lies in, or NULL. */
struct buffer *buffers_find(struct buffers *b, uint64_t address);
/* Memory that only the executor sees, in no list: all zeros, and a reference to it. NULL with the error. */
struct buffer *buffers_private(uint64_t bytes, struct error *e);
/* The same, with `ring` bytes of memory that are there over and over, from the first byte to the last. ring: whole
 * pages. */
struct buffer *buffers_ring(uint64_t bytes, uint64_t ring, struct error *e);
void buffers_put(struct buffer *buffer); /* NULL is fine */

/* The contents are with the device alone from here on. */
void buffer_leave_on_device(struct buffer *buffer);
/* Brings the contents to the session's memory, where only the device has them. writes: that is about to change, so that
   the device's count no more. NULL is fine. 0, or -1 with the error. */
int buffer_bring_back(struct buffer *buffer, bool writes, struct error *e);
/* Were the contents lost? Says so once: from then on they are what the session's memory last had. */
bool buffer_was_lost(struct buffer *buffer);
