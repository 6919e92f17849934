/* Variables and pipes of programs: memory that all executables of a module on one device share. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/executor/program/program.h"
#include "ir/base/error.h"
#include "ir/base/pipe_ring.h"

struct state {
    uint8_t *memory; /* of a pipe its record, as the device has it */
    uint64_t bytes;
    bool is_pipe;
    struct device_memory of_device;
    /* private to states.c */
    uint64_t module;
    uint32_t variable;
    const struct device *device;
    bool kept; /* the module is not released yet */
    uint32_t references;
    struct buffer *buffer;      /* of a host pipe: where its ring is; NULL: there is no host */
    struct pipe_ring_port port; /* its kernels' end, where packets are moved for them; without a ring: they are not */
    void *reservation;
    uint64_t reserved;
    struct state *next;
};

struct buffers;

/* The process is not one for such. It does not return. */
typedef void states_none_fn(void);

struct states {
    struct buffers *buffers; /* where rings of host pipes are */
    states_none_fn *none;    /* is called instead of making one; NULL: they are made */
    pthread_mutex_t lock;
    uint64_t bytes; /* of all together */
    uint32_t n;
    struct state *first;
};

void states_init(struct states *s, struct buffers *buffers, states_none_fn *none);
/* A reference to what the program names, of this module, for kernels of this device; made with its initial value where
   nobody used it yet. ring: the number of the buffer that holds a host pipe's ring; where there is none, kernels are by
   themselves. NULL with the error. */
struct state *states_get(struct states *s, uint64_t module, const struct device *device,
                         const struct program_state *what, uint64_t ring, struct error *e);
void states_put(struct states *s, struct state *state); /* NULL is fine */
/* Packets are moved for kernels of the device: before and behind a launch that has the pipe. 0, or -1 with the error.
 */
bool state_is_moved(const struct state *state);
int state_from_ring(struct state *state, struct error *e);
int state_to_ring(struct state *state, const struct program_state *what, struct error *e);
/* Nobody will ask for this module's any more: each goes with its last reference. */
void states_release(struct states *s, uint64_t module);
