/* Device reference. */
#include "daemon/executor/devices/reference/reference.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/executor/devices/interpreter/interpreter.h"
#include "daemon/executor/devices/reference/debug.h"
#include "daemon/executor/program/executables.h"

struct checked {
    struct launch_code code;
    struct ir_module *module;
    const struct ir_function *kernel;
};

static int checked_run(struct launch_code *code, struct executable *x, uint32_t launch, uint64_t *next, uint64_t end,
                       const struct launch_context *context, struct error *e)
{
    *next = end; /* of the launch: there are no bands */
    struct interpreter_launch run = {
        .kernel = ((struct checked *)code)->kernel,
        .options = {.check_races = true, .check_unwritten = true, .check_shuffles = true},
        .watch = reference_debug_watch(x),
    };
    return interpreter_run(&run, x, launch, context, e);
}

static void checked_free(struct launch_code *code)
{
    ir_module_free(((struct checked *)code)->module);
    free(code);
}

static struct launch_code *load(struct executable *x, uint32_t launch, int *fd, struct error *e)
{
    const struct program_launch *p = &x->program->launches[launch];
    struct checked *c = calloc(1, sizeof *c);
    char name[320];
    (void)fd;
    if (!c) abort();
    snprintf(name, sizeof name, "kernel %s", p->name);
    c->code = (struct launch_code){checked_run, checked_free};
    c->kernel = interpreter_decode(p->ir, p->ir_size, name, &c->module, e);
    if (c->kernel && interpreter_check_args(c->kernel, x, launch, e) == 0) return &c->code;
    checked_free(&c->code);
    return NULL;
}

/* A pipe, its end of a ring where it is a host pipe, and packets where it is none. */
struct checked_pipe {
    struct interp_pipe pipe;
    struct pipe_ring_port port;
    uint8_t packets[];
};

static uint64_t pipe_bytes(uint32_t packet_size, uint32_t capacity)
{
    return sizeof(struct checked_pipe) + (uint64_t)packet_size * capacity;
}

static void pipe_init(void *record, uint32_t packet_size, uint32_t capacity)
{
    struct checked_pipe *c = record;
    c->pipe = (struct interp_pipe){.packets = c->packets, .packet_size = packet_size, .capacity = capacity};
}

/* Reservations end with their kernel. */
static bool pipe_is_empty(const void *record)
{
    const struct interp_pipe *pipe = &((const struct checked_pipe *)record)->pipe;
    return pipe->read == pipe->written;
}

static bool pipe_set_ring(void *record, struct pipe_ring *ring, enum pipe_ring_end end)
{
    struct checked_pipe *c = record;
    if (!pipe_ring_open(&c->port, ring, c->pipe.packet_size, c->pipe.capacity, end)) return false;
    c->pipe.packets = c->port.packets;
    c->pipe.port = &c->port;
    c->pipe.read = end == PIPE_RING_READER ? c->port.own : c->port.other;
    c->pipe.written = end == PIPE_RING_READER ? c->port.other : c->port.own;
    return true;
}

const struct device reference_device = {.name = "reference",
                                        .load = load,
                                        .pipe_bytes = pipe_bytes,
                                        .pipe_init = pipe_init,
                                        .pipe_set_ring = pipe_set_ring,
                                        .pipe_is_empty = pipe_is_empty,
                                        .unload = reference_debug_free,
                                        .debug_begin = reference_debug_begin,
                                        .debug_transfer = reference_debug_transfer};
