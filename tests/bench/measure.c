/* Interleaved timing: medians, so that a disturbed round does not count; the order turns, so that no one always
   finds the caches as the same other one left them. */
#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/processor.h"

enum { MOST_ROUNDS = 21, LEAST_ROUNDS = 5, PATIENCE_MS = 6000 };
enum { SETTLE_US = 10000 }; /* threads that wait actively for more work of the one before have gone to sleep by then */

double measure_now_ms(void)
{
    struct timespec t;
    if (processor_used()) return processor_ms();
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double measure_median(double *times, size_t n)
{
    qsort(times, n, sizeof *times, compare);
    return times[n / 2];
}

double measure_percentile(double *times, size_t n, double share)
{
    qsort(times, n, sizeof *times, compare);
    return times[(size_t)((double)(n - 1) * share + 0.5)];
}

/* As somebody who does the same again and again finds it: alone, and awake. */
static bool run_settled(struct contender *c, unsigned repeat, double *ms)
{
    double warm;
    usleep(SETTLE_US);
    return c->run(c->self, 1, &warm) && c->run(c->self, repeat, ms);
}

static void run_round(struct contender *c, unsigned n, unsigned round, unsigned repeat, double *times, unsigned rounds)
{
    for (unsigned k = 0; k < n; k++) {
        unsigned i = round % 2 ? n - 1 - (k + round / 2) % n : (k + round / 2) % n;
        if (!c[i].absent && !run_settled(&c[i], repeat, &times[i * rounds + round])) c[i].absent = true;
    }
}

/* As many rounds as there is patience for. One run of everybody warms up, and says how long a round takes. */
static unsigned rounds_for(struct contender *c, unsigned n, unsigned repeat)
{
    double round_ms = 0, warm;
    for (unsigned i = 0; i < n; i++) {
        if (c[i].absent) continue;
        if (!c[i].run(c[i].self, 1, &warm) || !c[i].run(c[i].self, 1, &warm)) c[i].absent = true;
        round_ms += warm * (repeat + 1);
    }
    unsigned rounds = round_ms > 0 ? (unsigned)(PATIENCE_MS / round_ms) : MOST_ROUNDS;
    return rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds;
}

/* The median of what each round gave: what disturbs a round disturbs both. */
static double median_ratio(const double *ours, const double *theirs, unsigned rounds)
{
    double ratios[MOST_ROUNDS];
    for (unsigned r = 0; r < rounds; r++) ratios[r] = ours[r] / theirs[r];
    return measure_median(ratios, rounds);
}

/* Median, and for the spread the best and the quartiles. */
static void print_contender(const struct contender *c, const double *sorted, unsigned rounds, double ratio)
{
    printf("    %-14s %10.4f ms  (%.4f, %.4f .. %.4f)", c->name, sorted[rounds / 2], sorted[0], sorted[rounds / 4],
           sorted[rounds * 3 / 4]);
    if (ratio > 0) printf("   ours/its %.2f", ratio);
    putchar('\n');
}

static json_object *add_row(const char *work, const struct contender *c, unsigned n, double *times, unsigned rounds)
{
    json_object *row = json_object_new_object(), *peers = json_object_new_object(), *all = json_object_new_object();
    json_object *best = json_object_new_object();
    for (unsigned i = n; i-- > 1;) {
        if (c[i].absent) continue;
        json_object_object_add(all, c[i].name, json_object_new_double(median_ratio(times, times + i * rounds, rounds)));
    }
    for (unsigned i = 0; i < n; i++) {
        json_object *ratio;
        if (c[i].absent) continue;
        double ms = measure_median(times + i * rounds, rounds);
        bool other = json_object_object_get_ex(all, c[i].name, &ratio);
        print_contender(&c[i], times + i * rounds, rounds, other ? json_object_get_double(ratio) : 0);
        if (other) json_object_object_add(peers, c[i].name, json_object_new_double(ms));
        json_object_object_add(best, c[i].name, json_object_new_double(times[i * rounds]));
    }
    json_object_object_add(row, "work", json_object_new_string(work));
    json_object_object_add(row, "ours_ms", json_object_new_double(times[rounds / 2]));
    json_object_object_add(row, "peers", peers);
    json_object_object_add(row, "ratios", all);
    json_object_object_add(row, "best", best);
    return row;
}

json_object *measure_work(const char *work, struct contender *c, unsigned n, unsigned repeat, json_object *rows)
{
    unsigned rounds = rounds_for(c, n, repeat);
    double *times = calloc((size_t)n * rounds, sizeof *times);
    if (!times) exit(1);
    for (unsigned r = 0; r < rounds; r++) run_round(c, n, r, repeat, times, rounds);
    printf("%s\n", work);
    json_object *row = add_row(work, c, n, times, rounds);
    json_object_array_add(rows, row);
    fflush(stdout);
    free(times);
    return row;
}

void measure_figure(const char *work, double value, const char *unit, json_object *rows)
{
    json_object *row = json_object_new_object();
    printf("%-70s %10.4g %s\n", work, value, unit);
    fflush(stdout);
    json_object_object_add(row, "work", json_object_new_string(work));
    json_object_object_add(row, "value", json_object_new_double(value));
    json_object_object_add(row, "unit", json_object_new_string(unit));
    json_object_array_add(rows, row);
}
