#include "tools/inspect/run/runs.h"

#include <fusiond/submit.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/inspect/terminal/complain.h"

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

bool runs_init(struct runs *r, fusion_exec *exec, uint32_t n, uint32_t rounds, bool together)
{
    *r = (struct runs){.exec = exec, .rounds = rounds, .together = 1, .runs = calloc(n, sizeof *r->runs)};
    if (!r->runs) complain("run", "out_of_memory", "no memory for %u runs", n);
    if (together && rounds > 1) fusion_exec_rounds(exec, -1, &r->together, NULL); /* if not, they go one by one */
    return r->runs;
}

/* All that are there, behind those of the runs before. */
static void take_times(struct runs *r, fusion_session *s)
{
    enum { AT_ONCE = 256 };
    fusion_step_time times[AT_ONCE];
    for (uint32_t n; (n = fusion_session_take_times(s, times, AT_ONCE)) > 0;) {
        fusion_step_time *more = reallocarray(r->times, r->n_times + n, sizeof *more);
        if (!more) return;
        r->times = more;
        memcpy(r->times + r->n_times, times, n * sizeof *times);
        r->n_times += n;
    }
}

bool runs_add(struct runs *r, fusion_session *s)
{
    struct run *run = &r->runs[r->n];
    fusion_event event;
    run->first_time = r->n_times;
    run->submitted_ns = now_ns();
    if (fusion_exec_submit_times(r->exec, r->rounds, NULL, 0, NULL, &event) != FUSION_SUCCESS ||
        fusion_event_wait(s, event, -1, &run->run_ns) != FUSION_SUCCESS)
        return false;
    run->ended_ns = now_ns();
    take_times(r, s);
    run->n_times = r->n_times - run->first_time;
    r->n++;
    return true;
}

double runs_median_ms(const struct runs *r)
{
    uint64_t *times = calloc(r->n, sizeof *times), median;
    if (!times) return 0;
    for (uint32_t i = 0; i < r->n; i++) times[i] = r->runs[i].run_ns;
    qsort(times, r->n, sizeof *times, compare_times);
    median = times[r->n / 2];
    free(times);
    return (double)median / 1e6;
}

void runs_clear(struct runs *r)
{
    free(r->runs);
    free(r->times);
}
