/*
 * Pipes: first in, first out, between kernels, and between this program and kernels (host pipes). Part of fusiond.h.
 *
 * A host pipe is a pipe of a module that has an id (host_access, or SPIR-V's HostAccessINTEL), one of whose ends no
 * kernel of the module uses: that end is this program's. Its packets lie in memory that the program and its executor
 * share, so no call here goes through the service.
 *
 * Each pipe is used by one thread at a time. Packets that were written here are there for kernels, and those that
 * kernels have written are there for us, whatever becomes of the other side.
 */
#ifndef FUSIOND_PIPE_H
#define FUSIOND_PIPE_H

#include <fusiond/fusiond.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fusion_pipe fusion_pipe; /* this program's end; its module's, and gone with it */

typedef struct fusion_pipe_info {
    const char *name; /* of the variable */
    const char *id;   /* "": it is for kernels only */
    const char *type; /* of packets */
    uint64_t packet_bytes;
    uint32_t capacity;                /* packets */
    bool kernels_read, kernels_write; /* what kernels of the module do */
    const char *properties;           /* others that it has, as "uses_valid false, protocol avalon_mm"; "": none */
} fusion_pipe_info;

FUSION_API uint32_t fusion_module_pipe_count(const fusion_module *module);
FUSION_API const fusion_pipe_info *fusion_module_pipe(const fusion_module *module, uint32_t index); /* NULL: none */

/* The host pipe with this id, for kernels of the module on this device (NULL: cpu); each device has its own. The same
   pipe each time. FUSION_NOT_FOUND: no pipe has the id; FUSION_INVALID: kernels use both ends, or none. */
FUSION_API fusion_status fusion_pipe_open(fusion_module *module, const char *id, const char *device,
                                          fusion_pipe **pipe);
FUSION_API const fusion_pipe_info *fusion_pipe_describe(const fusion_pipe *pipe);

/* Moves n packets, and waits while the pipe is full, or empty: at most timeout_ms, -1: as long as it takes, 0: not at
   all. *done (may be NULL, and is set whatever happens): how many were moved. FUSION_TIMEOUT, or with a timeout of 0
   FUSION_BUSY: not all of them. FUSION_EXECUTOR: the executor was lost while we waited, with the kernels that it ran;
   the packets in the pipe are still there. */
FUSION_API fusion_status fusion_pipe_write(fusion_pipe *pipe, const void *packets, uint64_t n, int timeout_ms,
                                           uint64_t *done);
FUSION_API fusion_status fusion_pipe_read(fusion_pipe *pipe, void *packets, uint64_t n, int timeout_ms, uint64_t *done);

/* The next packets, where they lie: up to `most` of them (0: any number), at least one, for which it waits as above.
   To be written where the pipe is one to write to, else to be read. What is behind the ring's end comes with the next
   span. fusion_pipe_unmap() says how many of them, from the first on, are written or read. */
FUSION_API fusion_status fusion_pipe_map(fusion_pipe *pipe, uint64_t most, int timeout_ms, void **packets, uint64_t *n);
FUSION_API fusion_status fusion_pipe_unmap(fusion_pipe *pipe, uint64_t n);
/* Packets that can be read, or room for those that can be written, without waiting. */
FUSION_API fusion_status fusion_pipe_ready(fusion_pipe *pipe, uint64_t *n);

/* ---- as nodes of graphs and commands of queues ---- */

/* Moves n packets from or to memory of this process, as fusion_pipe_write() and fusion_pipe_read() do, when its turn
   comes; what is there says the pipe. It is a host task that does not wait for kernels submitted before it, unless it
   depends on some: they may be waiting for it. Where it is all that is submitted, other threads submit meanwhile. A
   failure is the submission's. */
FUSION_API fusion_status fusion_graph_add_pipe(fusion_graph *graph, const char *name, fusion_pipe *pipe, void *packets,
                                               uint64_t n, int timeout_ms, const fusion_node *depends_on,
                                               uint32_t n_depends_on, fusion_node *node);
FUSION_API fusion_status fusion_queue_pipe(fusion_queue *queue, fusion_pipe *pipe, void *packets, uint64_t n,
                                           int timeout_ms, fusion_event *event);

/* ---- by address ---- */

/* A host pipe as a program names it: its address stands for the id, which is in what `fusion-inspect pipes
   --integration` writes for a module: NAME.h, to be included before, and NAME.footer.h, at the end of the unit. */
struct fusion_host_pipe {
    uint32_t packet_bytes;
};
#define FUSION_HOST_PIPE(name, type) const struct fusion_host_pipe name = {FUSION_PIPE_BYTES_CHECK(name, type)}
#define FUSION_PIPE_BYTES_CHECK(name, type)                                                                            \
    (sizeof(char[sizeof(type) == fusion_pipe_packet_bytes_##name ? 1 : -1]) * sizeof(type))

/* From now on the address stands for the id, until it is removed as often as it was added. Several addresses may stand
   for one id. FUSION_INVALID: it stands for another one, or is NULL. Any thread, before main() too. */
FUSION_API fusion_status fusion_host_pipe_map_add(const void *address, const char *id);
FUSION_API void fusion_host_pipe_map_remove(const void *address);
/* fusion_pipe_open() with the id that the address stands for. FUSION_NOT_FOUND: it stands for none. */
FUSION_API fusion_status fusion_pipe_open_host(fusion_module *module, const void *address, const char *device,
                                               fusion_pipe **pipe);

#ifdef __cplusplus
}
#endif
#endif
