/* The search for a graph's best plan, told as text or JSON. */
#pragma once

#include "tools/inspect/graph/load.h"
#include "tools/inspect/run/options.h"

/* False with a message. */
bool tune_graph(struct loaded *l, const struct options *o);
