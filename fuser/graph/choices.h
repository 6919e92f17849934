/* What tuning makes otherwise than the cost model would. No result depends on it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUSER_MOST_CUTS = 16 };

struct fuser_choices {
    const char *text; /* that it was read from; NULL: none */
    bool no_recomputing;
    bool no_bands;
    uint32_t more_bands;  /* so many times as many as what is in use fits with; 0: as many */
    uint32_t group_items; /* of work-groups, where nobody asked for a local size or sees it; 0: the usual number */
    uint32_t n_cuts;
    uint32_t cuts[FUSER_MOST_CUTS]; /* nodes: each begins a launch, if others stand before it */
};

/* "recompute=no bands=no|2|4|8 items=64 cut=3 cut=7", separated by spaces, or less. False: it is none. */
bool fuser_choices_read(struct fuser_choices *c, const char *text);
