/* Interleaved timing: medians, so that a disturbed round does not count; the order turns, so that no one always
   finds the caches as the same other one left them. */
#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SETTLE_US = 10000 }; /* threads that wait actively for more work of the one before have gone to sleep by then */

double measure_now_ms(void)
{
    struct timespec t;
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

/* Median, and for the spread the best and the quartiles. */
static void print_contender(const struct contender *c, const double *sorted, unsigned rounds, double ours)
{
    double middle = sorted[rounds / 2];
    printf("    %-14s %10.4f ms  (%.4f, %.4f .. %.4f)", c->name, middle, sorted[0], sorted[rounds / 4],
           sorted[rounds * 3 / 4]);
    if (middle != ours) printf("   ours/its %.2f", ours / middle);
    putchar('\n');
}

void measure_work(const char *work, struct contender *c, unsigned n, unsigned rounds, unsigned repeat,
                  json_object *rows)
{
    double *times = calloc((size_t)n * rounds, sizeof *times), warm;
    if (!times) exit(1);
    for (unsigned i = 0; i < n; i++)
        if (!c[i].absent && !c[i].run(c[i].self, 1, &warm)) c[i].absent = true;
    for (unsigned r = 0; r < rounds; r++) run_round(c, n, r, repeat, times, rounds);
    json_object *row = json_object_new_object(), *peers = json_object_new_object();
    double ours = measure_median(times, rounds);
    printf("%s\n", work);
    for (unsigned i = 0; i < n; i++) {
        if (c[i].absent) continue;
        double ms = measure_median(times + i * rounds, rounds);
        print_contender(&c[i], times + i * rounds, rounds, ours);
        if (i > 0) json_object_object_add(peers, c[i].name, json_object_new_double(ms));
    }
    fflush(stdout);
    json_object_object_add(row, "work", json_object_new_string(work));
    json_object_object_add(row, "ours_ms", json_object_new_double(ours));
    json_object_object_add(row, "peers", peers);
    json_object_array_add(rows, row);
    free(times);
}

void measure_figure(const char *work, double ms, json_object *rows)
{
    json_object *row = json_object_new_object();
    printf("%s\n    %-14s %10.4f ms\n", work, "ours", ms);
    json_object_object_add(row, "work", json_object_new_string(work));
    json_object_object_add(row, "ours_ms", json_object_new_double(ms));
    json_object_object_add(row, "peers", json_object_new_object());
    json_object_array_add(rows, row);
}
