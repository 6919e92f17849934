/* Launches that run at the same time, as they wait for each other by pipes. */
#pragma once

#include "fuser/plan/launch/launching.h"

/* Of the plan's steps, when all are there. */
void launches_together(struct launching *l);
