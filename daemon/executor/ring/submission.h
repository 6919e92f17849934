/* One submission: what its entry binds, and that in place where its launches find it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/executor/run/steps.h"
#include "ir/base/error.h"
#include "proto/ring.h"

struct buffers;
struct executable;
struct running;
struct slot_memory;

/* Spares of the executable are about to run for the first time. */
typedef void submit_spares_fn(uint64_t executable);

/* What a slot is bound to. */
struct binding {
    uint64_t id, offset;
    uint32_t host;         /* enum ring_host */
    struct buffer *buffer; /* a reference, while it runs */
};

/* Memory that it uses. */
struct place {
    dev_t device; /* with inode: which memory */
    ino_t inode;
    uint64_t first, end;
    bool written;
};

struct submission {
    /* of all that have this place, one after another */
    submit_spares_fn *spares_run;
    struct launch_context context;
    uint32_t slots_capacity, values_capacity; /* room for the most so far */
    struct binding *bindings;
    struct slot_memory *slots;
    uint32_t *order; /* slots by where their memory lies */
    const uint8_t **values;
    struct place *places;
    uint32_t n_places;

    struct ring_entry header;
    const uint8_t *entry;     /* until it begins */
    uint8_t *copy;            /* of that, where it has to wait; NULL: it has not */
    struct executable *x;     /* a reference; NULL: it is none of this process, or there is none (the error) */
    uint32_t rounds;          /* of x that have not ended */
    struct executable *other; /* a reference, to the end: it runs behind x, or has run before it; NULL: there is none */
    uint32_t other_rounds;    /* 0: it has run */
    bool alone;               /* nothing runs beside it */
    bool begun;
    struct running *running;
    struct steps steps;
    uint64_t began_ns, run_ns;
    struct error error;
    uint64_t kept_bytes;       /* while it waits */
    struct submission *behind; /* it waits for the end of this one, if for no other; NULL: for none that is known */
    uint64_t before;           /* sequence of the one that came before it */
    struct submission *next;   /* that came later */
};

extern const char submission_lost[]; /* why contents of a buffer are not there */

/* What its entry binds: n_places of them. After x is known; that it is well-formed was checked. */
void submission_find_places(struct submission *s);
/* The entry says that it comes after this one, which came before it. */
bool submission_is_after(const struct submission *s, const struct submission *first);
/* Checks the entry, and fills in what its launches take. To be followed by submission_release(). 0, or -1 with the
   error in it. */
int submission_prepare(struct submission *s);
void submission_release(struct submission *s);
/* The other executable's turn. */
void submission_exchange(struct submission *s);
uint64_t submission_room(const struct submission *s); /* bytes that it has taken */
void submission_free(struct submission *s);
