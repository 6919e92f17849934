/* Pipes: first in, first out; those of the module live as long as the run. */
#include "ir/interp/pipe.h"

#include <inttypes.h>
#include <string.h>

#include "ir/base/pipe_ring.h"
#include "ir/core/reservation.h"
#include "ir/interp/frame.h"
#include "ir/interp/memory_access.h"
#include "ir/interp/report.h"
#include "ir/interp/shadow.h"

uint64_t interp_pipe_add(struct machine *m, struct interp_pipe *store, const struct ir_global *global)
{
    for (uint32_t i = 0; i < m->n_pipes; i++)
        if (m->pipes[i].store == store) return i + 1;
    m->pipes = arena_grow(m->arena, m->pipes, m->n_pipes, sizeof *m->pipes);
    m->pipes[m->n_pipes++] = (struct pipe){store, global, {store->read, store->written}, NULL, 0, 0};
    return m->n_pipes;
}

uint64_t interp_pipe_of_global(struct machine *m, const struct ir_global *global)
{
    for (uint32_t i = 0; i < m->n_pipes; i++)
        if (m->pipes[i].global == global) return i + 1;
    struct interp_pipe *store = arena_alloc(m->arena, sizeof *store);
    uint64_t size = ir_type_size(m->module, global->packet);
    *store = (struct interp_pipe){.packet_size = (uint32_t)size, .capacity = global->capacity};
    store->packets = interp_shadow(m, size * global->capacity, 1);
    return interp_pipe_add(m, store, global);
}

static struct pipe *pipe_of(const struct machine *m, const struct item *item)
{
    return &m->pipes[interp_item_operand(item, 0)[0] - 1];
}

/* An undefined value is no pipe; operations on it end the run. */
static bool is_pipe(struct machine *m, const struct item *item, const struct code_inst *at)
{
    uint64_t handle = interp_item_operand(item, 0)[0];
    if (handle > 0 && handle <= m->n_pipes) return true;
    interp_report(m, INTERP_INVALID, item, at, "%s of an undefined pipe", ir_op_info(at->ir->op)->text);
    m->stopped = true;
    return false;
}

/* The packet at operand 1; NULL when the access cannot be. */
static uint8_t *packet_bytes(struct machine *m, struct item *item, const struct code_inst *at,
                             const struct interp_pipe *pipe, unsigned flags)
{
    uint64_t size = ir_type_size(m->module, at->ir->type);
    if (size != pipe->packet_size) {
        if (m->options.tolerant) return NULL;
        interp_report(m, INTERP_INVALID, item, at, "%s of %" PRIu64 " bytes with a pipe whose packets have %u",
                      ir_op_info(at->ir->op)->text, size, pipe->packet_size);
        return NULL;
    }
    struct access a = {interp_item_operand(item, 1)[0],        size,  ir_type_space(at->ir->operands[1]->type),
                       ir_type_align(m->module, at->ir->type), flags, NULL};
    return interp_memory_access(m, item, at, &a);
}

static uint8_t *slot_of_packet(const struct interp_pipe *pipe, uint64_t number)
{
    return pipe->packets + number % pipe->capacity * pipe->packet_size;
}

/* ---- reservations ---- */

static uint64_t *done_of(struct pipe *p, bool writes)
{
    return writes ? &p->store->written : &p->store->read;
}

/* What the host has done meanwhile. */
static void see_host(const struct pipe *p)
{
    struct pipe_ring_port *port = p->store->port;
    if (!port) return;
    pipe_ring_look(port);
    *(port->end == PIPE_RING_WRITER ? &p->store->read : &p->store->written) = port->other;
}

/* Packets that can be taken, or for which there is room. */
static uint64_t packets_left(struct pipe *p, bool writes)
{
    see_host(p);
    if (p->store->port) p->reserved[!p->store->port->end] = p->store->port->other;
    return writes ? p->store->capacity - (p->reserved[1] - p->store->read) : p->store->written - p->reserved[0];
}

/* Done is what lies before the oldest reservation that is open. */
static void settle_reservations(struct pipe *p, bool writes)
{
    uint64_t done = p->reserved[writes];
    for (uint32_t i = 0; i < p->n_open; i++) {
        const struct reservation *r = &p->open[i];
        if (r->writes == writes && r->n && r->first < done) done = r->first;
    }
    *done_of(p, writes) = done;
    struct pipe_ring_port *port = p->store->port;
    if (port && (port->end == PIPE_RING_WRITER) == writes && done != port->own)
        pipe_ring_advance(port, (uint32_t)(done - port->own));
}

static uint64_t reserve_packets(struct machine *m, const struct item *item, const struct code_inst *at, struct pipe *p,
                                bool writes)
{
    uint32_t n = (uint32_t)interp_item_operand(item, 1)[0];
    if (n > IR_RESERVATION_MOST || n > packets_left(p, writes)) return 0;
    uint64_t first = p->reserved[writes], id = ir_reservation(first, n);
    if (p->n_open == p->most_open) {
        p->open = arena_grow(m->arena, p->open, p->n_open, sizeof *p->open);
        p->most_open = p->n_open ? 2 * p->n_open : 1;
    }
    p->open[p->n_open++] = (struct reservation){writes, id, first, n, at};
    p->reserved[writes] += n;
    return id;
}

static struct reservation *find_reservation(struct machine *m, const struct item *item, const struct code_inst *at,
                                            struct pipe *p, bool writes, uint64_t id)
{
    for (uint32_t i = 0; i < p->n_open; i++)
        if (p->open[i].writes == writes && p->open[i].id == id) return &p->open[i];
    if (m->options.tolerant) return NULL;
    interp_report(m, INTERP_INVALID, item, at, "%s with an id that is of no open reservation to %s this pipe",
                  ir_op_info(at->ir->op)->text, writes ? "write to" : "read from");
    return NULL;
}

static void commit_reservation(struct machine *m, const struct item *item, const struct code_inst *at, struct pipe *p,
                               bool writes)
{
    struct reservation *r = find_reservation(m, item, at, p, writes, interp_item_operand(item, 1)[0]);
    if (!r) return;
    uint32_t i = (uint32_t)(r - p->open);
    memmove(r, r + 1, (--p->n_open - i) * sizeof *r);
    settle_reservations(p, writes);
}

void interp_pipe_finish(struct machine *m)
{
    for (uint32_t i = 0; i < m->n_pipes && !m->options.tolerant; i++)
        for (uint32_t k = 0; k < m->pipes[i].n_open; k++) {
            const struct reservation *r = &m->pipes[i].open[k];
            interp_report(m, INTERP_INVALID, NULL, r->at, "the reservation of %u packets is never committed", r->n);
        }
}

/* ---- packets ---- */

static bool copy_packet(struct machine *m, struct item *item, const struct code_inst *at, const struct pipe *p,
                        bool writes, uint64_t number)
{
    uint8_t *memory = packet_bytes(m, item, at, p->store, writes ? ACCESS_READ : ACCESS_WRITE);
    uint8_t *inside = slot_of_packet(p->store, number);
    if (memory) memcpy(writes ? inside : memory, writes ? memory : inside, p->store->packet_size);
    return memory;
}

static bool move_next(struct machine *m, struct item *item, const struct code_inst *at, struct pipe *p, bool writes)
{
    if (!packets_left(p, writes) || !copy_packet(m, item, at, p, writes, p->reserved[writes])) return false;
    p->reserved[writes]++;
    settle_reservations(p, writes);
    return true;
}

/* Nobody but the host does anything while this kernel runs. */
static void move_next_wait(struct machine *m, struct item *item, const struct code_inst *at, struct pipe *p,
                           bool writes)
{
    struct pipe_ring_port *port = p->store->port;
    while (!packets_left(p, writes)) {
        if (!port || (port->end == PIPE_RING_WRITER) != writes) {
            interp_report(m, INTERP_INVALID, item, at, "%s waits for %s, and nobody else runs",
                          ir_op_info(at->ir->op)->text, writes ? "room in a full pipe" : "a packet of an empty pipe");
            m->stopped = true;
            return;
        }
        if (!pipe_ring_spin(port)) pipe_ring_sleep(port, 0);
    }
    move_next(m, item, at, p, writes);
}

static bool move_at(struct machine *m, struct item *item, const struct code_inst *at, struct pipe *p, bool writes)
{
    const struct reservation *r = find_reservation(m, item, at, p, writes, interp_item_operand(item, 2)[0]);
    uint32_t index = (uint32_t)interp_item_operand(item, 3)[0];
    if (!r) return false;
    if (index < r->n) return copy_packet(m, item, at, p, writes, r->first + index);
    if (m->options.tolerant) return false;
    interp_report(m, INTERP_INVALID, item, at, "%s at index %u of a reservation of %u packets",
                  ir_op_info(at->ir->op)->text, index, r->n);
    return false;
}

bool interp_pipe_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    enum ir_op op = at->ir->op;
    if (op < IR_OP_PIPE_READ || op > IR_OP_PIPE_MAX_PACKETS) return false;
    if (!is_pipe(m, item, at)) return true;
    struct pipe *p = pipe_of(m, item);
    switch (op) {
    case IR_OP_PIPE_READ:
    case IR_OP_PIPE_WRITE: *r = move_next(m, item, at, p, op == IR_OP_PIPE_WRITE); return true;
    case IR_OP_PIPE_READ_WAIT:
    case IR_OP_PIPE_WRITE_WAIT: move_next_wait(m, item, at, p, op == IR_OP_PIPE_WRITE_WAIT); return true;
    case IR_OP_PIPE_READ_AT:
    case IR_OP_PIPE_WRITE_AT: *r = move_at(m, item, at, p, op == IR_OP_PIPE_WRITE_AT); return true;
    case IR_OP_PIPE_RESERVE_READ:
    case IR_OP_PIPE_RESERVE_WRITE: *r = reserve_packets(m, item, at, p, op == IR_OP_PIPE_RESERVE_WRITE); return true;
    case IR_OP_PIPE_COMMIT_READ:
    case IR_OP_PIPE_COMMIT_WRITE: commit_reservation(m, item, at, p, op == IR_OP_PIPE_COMMIT_WRITE); return true;
    case IR_OP_PIPE_NUM_PACKETS: *r = (uint32_t)packets_left(p, false); return true;
    default: *r = p->store->capacity; return true;
    }
}
