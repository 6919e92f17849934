/* The daemon from start to end. */
#pragma once

struct options;

/* Runs until told to end; the exit status. */
int broker_run(const struct options *options);
