/* The daemon from start to end. */
#pragma once

struct options;

/* Runs until told to end; the exit status. The options may be others afterwards, as configuration is read again. */
int broker_run(struct options *options);
