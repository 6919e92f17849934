/* Interleaved timing of several ways to do one work. */
#pragma once

#include <json.h>
#include <stdbool.h>
#include <stddef.h>

enum { MEASURE_MAX = 10 };

/* One way to do it. */
struct contender {
    const char *name;                                     /* in the table and in the JSON; "ours" first */
    bool (*run)(void *self, unsigned repeat, double *ms); /* mean time of a run; false: it failed, and is left out */
    void *self;
    bool absent;
};

double measure_now_ms(void);                    /* of the clock, or of the processor: processor.h */
double measure_median(double *times, size_t n); /* sorts them */
double measure_percentile(double *times, size_t n, double share);

/* Times all of them in rounds (21, fewer where they take long), in turning order, and prints medians, spread, and our
   time divided by theirs: the median of the rounds' ratios. Adds a row, and returns it. */
json_object *measure_work(const char *work, struct contender *c, unsigned n, unsigned repeat, json_object *rows);
/* A row of one figure. */
void measure_figure(const char *work, double value, const char *unit, json_object *rows);
