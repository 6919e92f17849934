/*
 * The plan of several rounds: a second executable, whose graph is that of the first one several times over. What runs
 * across launches of a graph, bands and fusion, runs across rounds there.
 */
#pragma once

#include "client/exec/exec.h"

/* The second executable where it is there and pays; begins to make it where nobody has. Waits for it so long; -1: to
   its end. NULL: each round goes by itself, by now. */
fusion_exec *client_round_plan_get(fusion_exec *exec, int timeout_ms);
/* It is still being made. */
bool client_round_plan_pending(fusion_exec *exec);
