/*
 * Pipes as kernels for GPUs use them. Of a host pipe the record has the numbers of its ring, and packets lie at the
 * same places: so what is moved are the packets, and how many there are is a difference. What the ring says of the
 * kernels' end changes only when they are done: packets that a launch did not take are there for the next, of another
 * executor too.
 */
#include "daemon/executor/devices/gpu/pipes.h"

#include <string.h>

#include "fuser/spirv/abi/pipe.h"

uint64_t gpu_pipe_bytes(uint32_t packet_size, uint32_t capacity)
{
    return spirv_pipe_bytes(packet_size, capacity);
}

void gpu_pipe_init(void *record, uint32_t packet_size, uint32_t capacity)
{
    *(struct spirv_pipe *)record = (struct spirv_pipe){.packet_size = packet_size, .capacity = capacity};
}

/* So many packets of the port's from its next one on, at the record's places or from there. */
static void copy_packets(uint8_t *record, const struct pipe_ring_port *port, uint32_t n, bool to_ring)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *mine = record + pipe_ring_slot(port->own + i, port->capacity) * port->packet_size;
        uint8_t *shared = pipe_ring_at(port, i);
        memcpy(to_ring ? shared : mine, to_ring ? mine : shared, port->packet_size);
    }
}

void gpu_pipe_from_ring(void *record, struct pipe_ring_port *port)
{
    struct spirv_pipe *p = record;
    uint32_t ready = pipe_ring_look(port);
    bool reads = port->end == PIPE_RING_READER;
    gpu_pipe_init(record, port->packet_size, port->capacity);
    p->read_done = p->read_reserved = reads ? port->own : port->other;
    p->write_done = p->write_reserved = reads ? port->other : port->own;
    memset(p->packets + (uint64_t)port->capacity * port->packet_size, 0, port->capacity);
    if (reads) copy_packets(p->packets, port, ready, false);
}

bool gpu_pipe_to_ring(const void *record, struct pipe_ring_port *port)
{
    const struct spirv_pipe *p = record;
    bool reads = port->end == PIPE_RING_READER;
    uint64_t n = (reads ? p->read_done : p->write_done) - port->own;
    if (n > pipe_ring_ready(port)) return false;
    if (!reads) copy_packets((uint8_t *)p->packets, port, (uint32_t)n, true);
    if (n) pipe_ring_advance(port, (uint32_t)n);
    return true;
}
