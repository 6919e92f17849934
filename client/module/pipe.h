/* Host pipes: this program's ends of them. */
#pragma once

#include "client/module/state.h"
#include "ir/base/pipe_ring.h"

struct fusion_pipe {
    fusion_module *module;
    const struct module_pipe *declared;
    const char *device;
    fusion_buffer *buffer; /* whose memory is the ring */
    struct pipe_ring_port port;
    struct fusion_pipe *next; /* of the module */
};

/* Numbers, three for each host pipe of the modules: the module's, the variable's, that of the buffer with the ring on
   this device, which is made where it is not there yet. To be freed. */
struct pipe_rings {
    uint32_t n;
    uint64_t *numbers;
};
bool client_pipes_any(fusion_session *s, const uint64_t *modules, uint32_t n); /* has one of these modules pipes? */
fusion_status client_pipe_rings(fusion_session *s, const uint64_t *modules, uint32_t n, const char *device,
                                struct pipe_rings *rings);

/* A module with pipes is there, or is about to go. */
void client_pipes_remember(fusion_module *m);
void client_pipes_forget(fusion_module *m);

fusion_session *client_pipe_session(const fusion_pipe *pipe);
/* Moves packets, in the direction that the pipe has. */
fusion_status client_pipe_move(fusion_pipe *pipe, void *packets, uint64_t n, int timeout_ms, uint64_t *done);
