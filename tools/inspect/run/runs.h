/* Runs of an executable, with when each of their steps ran. */
#pragma once

#include <fusiond/profile.h>

struct run {
    uint64_t submitted_ns, ended_ns; /* as this program saw it; CLOCK_MONOTONIC */
    uint64_t run_ns;                 /* of its steps together */
    uint32_t first_time, n_times;
};

struct runs {
    fusion_exec *exec;
    uint32_t rounds, together; /* of each run; of them by one plan */
    uint32_t n, n_times;
    struct run *runs;
    fusion_step_time *times; /* with profiling; of all runs */
};

/* Makes room for n runs of so many rounds each. together: waits for the plan of several rounds. */
bool runs_init(struct runs *r, fusion_exec *exec, uint32_t n, uint32_t rounds, bool together);
/* Submits once more and waits. False with the library's error. */
bool runs_add(struct runs *r, fusion_session *s);
double runs_median_ms(const struct runs *r);
void runs_clear(struct runs *r);
uint64_t now_ns(void);
int compare_times(const void *a, const void *b); /* of uint64_t, for qsort() */
