/* Launches that run together band by band: which rows of each are in which band. */
#pragma once

#include "fuser/bands/reach.h"

/* Bytes of a buffer that a launch touches: as struct band_reach, of the buffer. */
struct banded_access {
    uint32_t buffer; /* in the run's own numbers: a buffer, or a part of one that has nothing to do with its others */
    bool reads, writes;
    struct line at;
    int64_t first, end;
};

struct banded_launch {
    uint64_t rows, groups_of_row;
    uint32_t n;
    struct banded_access *accesses;
};

/* An access of one launch, and one of a later launch that has to wait for it. */
struct band_wait {
    uint32_t before, after; /* launches */
    const struct banded_access *first, *second;
};

struct band_schedule {
    const struct banded_launch *const *launches;
    uint32_t n, n_buffers, n_waits, n_bands;
    uint32_t at_once; /* bands that follow each other and are in work at a time */
    struct band_wait *waits;
    uint64_t *ends;    /* by band, then launch: rows that are done when the band is */
    uint64_t *windows; /* by buffer: bytes from the first that is still touched to the last that was by the last band in
                          work, at most */
    uint64_t window;   /* of all buffers together, at most */
};

struct arena;

/* Which accesses have to wait for each other. */
void schedule_begin(struct arena *arena, struct band_schedule *s);
/* Fills in rows and windows for so many bands, of which `at_once` are in work at a time. False: more than `most` bytes
   would be in use. */
bool schedule_make(struct arena *arena, struct band_schedule *s, uint32_t n_bands, uint32_t at_once, uint64_t most);
