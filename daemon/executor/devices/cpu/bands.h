/* Launches that run band by band, each thread in a band of its own. */
#pragma once

#include <stdint.h>

struct error;
struct executable;
struct launch_context;
struct program_bands;

/* 1; 0: they are to be run one part after the other, as one band at a time is all there is memory for, there is one
   thread, or code of a launch is still to come. -1 with the error. */
int bands_run(struct executable *x, const struct program_bands *bands, const struct launch_context *context,
              struct error *e);
