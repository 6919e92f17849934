/* Packets of host pipes: moving them, and giving them where they lie. */
#include <inttypes.h>
#include <string.h>

#include "client/base/error.h"
#include "client/module/pipe.h"
#include "client/session/fork.h"
#include "client/session/held.h"
#include "client/session/request.h"
#include "client/session/wait.h"

static const char *id_of(const fusion_pipe *pipe)
{
    return pipe->declared->info.id;
}

static bool writes(const fusion_pipe *pipe)
{
    return pipe->port.end == PIPE_RING_WRITER;
}

static fusion_status broken(const fusion_pipe *pipe)
{
    return client_error(FUSION_PROTOCOL, id_of(pipe), "kernels have left a number in the pipe's ring that cannot be");
}

/* ---- waiting ---- */

/* Somebody has to be there for whom it is worth waiting. */
static fusion_status check_others(const fusion_pipe *pipe, uint32_t run)
{
    fusion_session *s = pipe->module->session;
    if (run && atomic_load(&pipe->port.ring->run) != run)
        return client_error(FUSION_EXECUTOR, id_of(pipe), "the executor was lost while we waited for its kernels");
    if (client_ring_is(s, RING_CLOSED)) return client_closed(s);
    if (client_daemon_gone(s)) return client_error(FUSION_CONNECTION, id_of(pipe), "fusiond ended while we waited");
    return FUSION_SUCCESS;
}

static fusion_status too_late(const fusion_pipe *pipe, int timeout_ms)
{
    const char *what = writes(pipe) ? "full" : "empty";
    if (!timeout_ms) return client_error(FUSION_BUSY, id_of(pipe), "the pipe is %s", what);
    return client_error(FUSION_TIMEOUT, id_of(pipe), "the pipe was still %s after %d ms", what, timeout_ms);
}

/* The pipe that this thread used last. Where it is the one that it waits for, it only reads, or only writes: nobody
   waits for an answer of it, and instead of being woken for each packet it naps while some gather, as long as there is
   room for as many as come in that time. */
static __thread const fusion_pipe *used_last __attribute__((tls_model("initial-exec")));

static bool some_gather(fusion_pipe *pipe)
{
    enum { NAP_NS = 10000, COME_IN_A_NAP = 2048 }; /* threads that nap are mostly 50 us late */
    if (used_last != pipe || pipe->port.capacity < COME_IN_A_NAP) return false;
    uint32_t nobody = 0;
    pipe_nap(&nobody, 0, NAP_NS);
    return pipe_ring_look(&pipe->port) > 0;
}

/* Until a packet can be moved. */
static fusion_status wait_ready(fusion_pipe *pipe, int timeout_ms)
{
    uint64_t deadline = timeout_ms > 0 ? client_now_ms() + (uint64_t)timeout_ms : 0;
    uint32_t run = atomic_load(&pipe->port.ring->run);
    while (!pipe_ring_look(&pipe->port)) {
        if (pipe->port.broken) return broken(pipe);
        uint64_t now = timeout_ms > 0 ? client_now_ms() : 0, slice = CLIENT_WAIT_SLICE_MS;
        if (timeout_ms == 0 || (timeout_ms > 0 && now >= deadline)) return too_late(pipe, timeout_ms);
        if (timeout_ms > 0 && deadline - now < slice) slice = deadline - now;
        if (pipe_ring_spin(&pipe->port) || some_gather(pipe)) continue;
        pipe_ring_sleep(&pipe->port, slice * 1000000);
        if (pipe_ring_look(&pipe->port)) break;
        fusion_status status = check_others(pipe, run);
        if (status != FUSION_SUCCESS) return status;
    }
    return pipe->port.broken ? broken(pipe) : FUSION_SUCCESS;
}

/* At least one packet can be moved. */
static inline fusion_status get_ready(fusion_pipe *pipe, int timeout_ms, uint32_t *n)
{
    *n = pipe_ring_ready(&pipe->port);
    if (*n) return FUSION_SUCCESS;
    fusion_status status = wait_ready(pipe, timeout_ms);
    *n = pipe_ring_ready(&pipe->port);
    return status;
}

/* ---- moving ---- */

static void copy_packets(const struct pipe_ring_port *port, uint8_t *packets, uint32_t n)
{
    uint8_t *place = pipe_ring_at(port, 0);
    bool in = port->end == PIPE_RING_WRITER;
    pipe_ring_copy(in ? place : packets, in ? packets : place, (size_t)n * port->packet_size);
}

fusion_status client_pipe_move(fusion_pipe *pipe, void *packets, uint64_t n, int timeout_ms, uint64_t *done)
{
    uint8_t *next = packets;
    uint64_t left = n;
    fusion_status status = FUSION_SUCCESS;
    if (client_is_foreign(pipe->module->session)) status = client_foreign(id_of(pipe));
    client_flush(pipe->module->session);
    while (left && status == FUSION_SUCCESS) {
        uint32_t ready;
        status = get_ready(pipe, timeout_ms, &ready);
        if (status != FUSION_SUCCESS) break;
        uint32_t now = pipe_ring_straight(&pipe->port, left < ready ? (uint32_t)left : ready);
        copy_packets(&pipe->port, next, now);
        pipe_ring_advance(&pipe->port, now);
        used_last = pipe;
        next += (size_t)now * pipe->port.packet_size;
        left -= now;
    }
    if (done) *done = n - left;
    return status;
}

static fusion_status wrong_end(const fusion_pipe *pipe)
{
    return client_error(FUSION_INVALID, id_of(pipe), "kernels %s the pipe: the program %s it",
                        writes(pipe) ? "read" : "write", writes(pipe) ? "writes" : "reads");
}

fusion_status fusion_pipe_write(fusion_pipe *pipe, const void *packets, uint64_t n, int timeout_ms, uint64_t *done)
{
    if (done) *done = 0;
    if (!writes(pipe)) return wrong_end(pipe);
    return client_pipe_move(pipe, (void *)packets, n, timeout_ms, done);
}

fusion_status fusion_pipe_read(fusion_pipe *pipe, void *packets, uint64_t n, int timeout_ms, uint64_t *done)
{
    if (done) *done = 0;
    if (writes(pipe)) return wrong_end(pipe);
    return client_pipe_move(pipe, packets, n, timeout_ms, done);
}

/* ---- spans ---- */

fusion_status fusion_pipe_map(fusion_pipe *pipe, uint64_t most, int timeout_ms, void **packets, uint64_t *n)
{
    uint32_t ready;
    if (client_is_foreign(pipe->module->session)) return client_foreign(id_of(pipe));
    client_flush(pipe->module->session);
    fusion_status status = get_ready(pipe, timeout_ms, &ready);
    if (status != FUSION_SUCCESS) return status;
    ready = pipe_ring_look(&pipe->port);
    if (pipe->port.broken) return broken(pipe);
    *packets = pipe_ring_at(&pipe->port, 0);
    *n = pipe_ring_straight(&pipe->port, most && most < ready ? (uint32_t)most : ready);
    return FUSION_SUCCESS;
}

fusion_status fusion_pipe_unmap(fusion_pipe *pipe, uint64_t n)
{
    uint32_t ready = pipe_ring_ready(&pipe->port);
    if (n > pipe_ring_straight(&pipe->port, ready))
        return client_error(FUSION_INVALID, id_of(pipe), "%" PRIu64 " packets are more than were mapped", n);
    if (n) pipe_ring_advance(&pipe->port, (uint32_t)n);
    return FUSION_SUCCESS;
}

fusion_status fusion_pipe_ready(fusion_pipe *pipe, uint64_t *n)
{
    client_flush(pipe->module->session);
    *n = pipe_ring_look(&pipe->port);
    return pipe->port.broken ? broken(pipe) : FUSION_SUCCESS;
}
