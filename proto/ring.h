/*
 * The submission ring: memory that a client and its executor share, made by the broker (a sealed memfd).
 * The client writes entries, the executor runs them in order and tells completions. The executor trusts
 * nothing in it: an entry is copied out once, checked, then used.
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RING_MAGIC = 0x46524e47,
    RING_VERSION = 10,
    RING_DATA_BYTES = 1 << 20,  /* power of two */
    RING_MAX_ENTRY = 256 << 10, /* bytes of one entry */
    RING_MAX_PENDING = 1024,    /* submissions not completed yet */
    RING_PRINT_BYTES = 1 << 20, /* of what kernels have printed and the client has not taken; a power of two */
    RING_PRINT_MOST = RING_PRINT_BYTES - 4096, /* of one submission: a note about what was dropped fits behind it */
    RING_OBJECT_BYTES = 64,                    /* of texts, the ends of longer ones are left out */
    RING_REASON_BYTES = 424,
    RING_TIMES = 1024,    /* of steps, a power of two; older ones are written over */
    RING_MAX_AWAY = 4096, /* buffers whose contents only a device has: all that a session may have attached */
};

enum ring_state { RING_RUNNING, RING_RESTARTING, RING_CLOSED };

/* Parts of ring.called. */
enum ring_call {
    RING_CALL_WORKERS = 0xffff,  /* how many are to be woken */
    RING_CALL_BORROWS = 1 << 16, /* there are no other processors for them but the client's */
};

/* What the client does with a buffer while the submission runs. */
enum ring_host {
    RING_HOST_READS = 1,  /* it is to see what was written */
    RING_HOST_WRITES = 2, /* it may have written since the last submission */
    RING_NEXT_FAILS = 4,  /* of executable 0: nobody waits; if it fails, so does what uses the buffer next */
};

struct ring_completion {
    _Atomic uint64_t sequence; /* written last */
    uint32_t status;           /* fusion_status */
    uint32_t reserved;
    uint64_t run_ns;   /* from start of its first step to the end of its last */
    uint64_t ended_ns; /* CLOCK_MONOTONIC, where the client wants times; else 0 */
};

/* Why a submission failed. Of one that did not, what was there before. */
struct ring_failure {
    char object[RING_OBJECT_BYTES];
    char reason[RING_REASON_BYTES];
};

/* When steps of a submission ran; CLOCK_MONOTONIC. */
struct ring_time {
    uint64_t sequence;
    uint32_t step, n_steps; /* of the executable; more than one where they ran as one */
    uint64_t began_ns, ended_ns;
};

struct ring {
    uint32_t magic, version;
    uint64_t data_bytes;
    /* client to executor */
    alignas(64) _Atomic uint64_t head; /* bytes written, ever */
    _Atomic uint64_t pushed;           /* sequence of the last entry; written before head */
    _Atomic uint32_t client_cpu;       /* processor it ran on lately, plus one; 0: not known. A hint, as the next */
    _Atomic uint32_t has_priorities;   /* an entry had one that is not 0: all that wait are looked at from then on */
    alignas(64) _Atomic uint64_t tail; /* bytes consumed, ever */
    _Atomic uint32_t executor_cpu;     /* the same of the executor */
    alignas(64) _Atomic uint32_t doorbell; /* futex: incremented by the client after head */
    _Atomic uint32_t executor_sleeps;      /* 1: a FUTEX_WAKE is needed */
    /* executor to client */
    alignas(64) _Atomic uint64_t completed;   /* all up to this sequence are; others behind it may have their outcome */
    _Atomic uint32_t completion_bell;         /* futex: incremented after completed */
    _Atomic uint32_t waiters;                 /* clients in FUTEX_WAIT on completion_bell */
    _Atomic uint32_t wants_event;             /* client: write to the event socket at each completion */
    _Atomic uint32_t state;                   /* enum ring_state, written by broker and executor */
    _Atomic uint32_t called;                  /* enum ring_call, and how many workers are to be woken */
    alignas(64) _Atomic uint32_t spinners;    /* clients that spin in ring_wait(): they wake workers that are called */
    alignas(64) _Atomic uint32_t worker_bell; /* futex of the workers that sleep */
    struct ring_completion completions[RING_MAX_PENDING]; /* of sequence s: [s % RING_MAX_PENDING] */
    struct ring_failure failures[RING_MAX_PENDING];       /* likewise */
    /* what kernels print: text of submissions, there before they are told as completed */
    alignas(64) _Atomic uint64_t printed; /* executor: bytes written, ever */
    _Atomic uint64_t print_taken;         /* client: bytes taken, ever */
    uint8_t prints[RING_PRINT_BYTES];     /* used modulo */
    /* executors for GPUs: bytes that went to devices and came back, ever; there before the completion is told */
    alignas(64) _Atomic uint64_t to_device;
    _Atomic uint64_t from_device;
    /* numbers of buffers, 0: none. An executor that takes the place of one that died finds here what was lost with it
     */
    _Atomic uint64_t away[RING_MAX_AWAY];
    /* Times of steps; executor: how many were written, ever, there before the completion is told */
    alignas(64) _Atomic uint64_t timed;
    _Atomic uint64_t times_taken; /* client */
    _Atomic uint32_t wants_times; /* client: of the submissions that begin from now on */
    struct ring_time times[RING_TIMES];
    /* Client: sequences of submissions that are to be cancelled, that of s at [s % RING_MAX_PENDING] */
    alignas(64) _Atomic uint64_t cancelled[RING_MAX_PENDING];
    alignas(64) uint8_t data[]; /* data_bytes, used modulo */
};

/* One submission: this header, then n_bindings bindings, n_values values, each padded to 8 bytes, and n_after sequences
   of submissions that are to end before it begins, even where nothing that they do says so. Of executable 0,
   which there is not, it brings what only a device has of the buffers back to their memory; where the host writes then,
   what the device has counts no more. */
struct ring_entry {
    uint32_t size;     /* bytes in all, a multiple of 8 */
    uint32_t part;     /* which steps of the executable: those between two of its host tasks, 0 the first */
    uint64_t sequence; /* 1, 2, 3 ...; one that stands for several submissions has the last one's number */
    uint64_t executable;
    uint32_t n_bindings; /* slots bound otherwise than at finalize */
    uint32_t n_values;   /* values that differ from those at finalize */
    uint32_t n_after;
    int32_t priority;       /* of those that wait and may begin the one with the highest begins, then the oldest */
    uint32_t time_limit_ms; /* 0, or more than the session's: that */
    uint32_t rounds;        /* it runs so often, one run after the other, until one fails; 0 is 1 */
    /* Another executable with the same slots and values that runs before it, so often; 0: there is none, and what
       follows is 0. What is bound and given is so for both. */
    uint64_t first;
    uint32_t first_rounds;
    uint32_t reserved;
};

struct ring_binding {
    uint32_t slot;
    uint32_t host;   /* enum ring_host bits. What no binding says it of, the host reads and writes */
    uint64_t buffer; /* id of an attached buffer or USM allocation of this session */
    uint64_t offset; /* bytes into it */
};

struct ring_value {
    uint32_t value, size; /* followed by `size` bytes, padded to 8 */
};

static inline size_t ring_total_bytes(void)
{
    return sizeof(struct ring) + RING_DATA_BYTES;
}

/* Broker: fills in a new ring (all zero bytes). */
void ring_init(struct ring *r);
/* Client, executor: is this mapping of `bytes` bytes a ring of this version. */
bool ring_check(const struct ring *r, size_t bytes);
/* Broker, executor: changes the state and wakes waiters. */
void ring_set_state(struct ring *r, enum ring_state state);
/* Broker, with no executor running: completes everything pushed with this failure, but for what has its outcome
   already, and drops the entries. Gives how many, at most RING_MAX_PENDING whatever the ring holds. A push that happens
   meanwhile is either completed here or left for the next executor (ring_pop skips what is completed). */
uint32_t ring_abort(struct ring *r, uint32_t status, const char *object, const char *reason);
/* Broker, before that: what the executor that has ended said of the submission that failed so, as texts of
   RING_OBJECT_BYTES and RING_REASON_BYTES. It is among those that are pending, or the last one that is not. False:
   there is none. */
bool ring_last_failure(const struct ring *r, uint32_t status, char *object, char *reason);

/* Producer (client; callers serialize): false where there is no room now, or RING_MAX_PENDING are pending. Wakes the
   executor. entry->size is filled in. */
bool ring_push(struct ring *r, const struct ring_entry *entry, const void *rest, size_t rest_size);
/* Consumer (executor): copies the next entry into out (RING_MAX_ENTRY bytes). 1 an entry, 0 none, -1 the
   ring is corrupt (reason). Never reads outside the ring whatever it holds. Skips entries whose sequence is
   completed already; never gives one more than RING_MAX_PENDING beyond. */
int ring_pop(struct ring *r, uint8_t *out, const char **reason);
/* Is an entry (as ring_pop gave it) well-formed in itself: sizes add up. */
bool ring_entry_valid(const uint8_t *entry, const char **reason);
/* Executor or broker: tells the completion of sequence and wakes waiters. Strings, which matter where it failed, are
   cut to what fits; NULL is "". The event socket is the caller's job: written where wants_event is not 0. */
void ring_complete(struct ring *r, uint64_t sequence, uint32_t status, uint64_t run_ns, const char *object,
                   const char *reason);
/* Executor: tells the outcome of one that ends before others that were submitted before it; its place among the
   completed ones follows with theirs, by ring_advance() to the last that is complete with all before it. */
void ring_settle(struct ring *r, uint64_t sequence, uint32_t status, uint64_t run_ns, const char *object,
                 const char *reason);
void ring_advance(struct ring *r, uint64_t sequence);
/* Has it its outcome, among the last RING_MAX_PENDING? */
bool ring_is_settled(const struct ring *r, uint64_t sequence);
/* Client: the submission is to be cancelled. Executor: is it? */
void ring_cancel(struct ring *r, uint64_t sequence);
bool ring_is_cancelled(const struct ring *r, uint64_t sequence);
/* Executor: the contents of this buffer are with a device alone, or no longer; and whether they were noted so. */
void ring_note_away(struct ring *r, uint64_t buffer);
void ring_forget_away(struct ring *r, uint64_t buffer);
bool ring_is_away(const struct ring *r, uint64_t buffer);
/* Executor: bytes were copied, so many more of each. */
void ring_count_moved(struct ring *r, uint64_t to_device, uint64_t from_device);
/* Executor: text for the client. False: there is not so much room, and nothing of it is taken. */
bool ring_print(struct ring *r, const char *text, size_t bytes);
/* Executor: the steps of a submission that wants it were timed. */
void ring_tell_time(struct ring *r, const struct ring_time *time);
/* Client (callers serialize): takes at most `room` of the times that were told, the oldest first; those that were
   written over are passed by. */
uint32_t ring_take_times(struct ring *r, struct ring_time *times, uint32_t room);
/* Client (callers serialize): takes at most `room` bytes of what was printed; 0: there is nothing. */
size_t ring_take_print(struct ring *r, char *text, size_t room);
