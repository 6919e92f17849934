/*
 * Launches that run band by band: a few rows of the first, then of the second as many as these allow, and so on, so
 * that what flows between them is still in the cache. No kernel changes, and each work-group runs once.
 *
 * This room takes launches that follow each other, says which rows of them are in which band (schedule.h) by how far
 * rows reach (fuser/bands), and which buffers between them need memory for their part that is in use alone (rings.h).
 */
#pragma once

#include "fuser/plan/launch/launching.h"

/* Adds them to the plan, whose launches and steps are there. */
void bands_find(struct launching *l);
