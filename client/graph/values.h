/* What a graph says of its values when it is finalized. */
#pragma once

#include "client/graph/parts.h"

/* Which values are alike, and which are numbers near the size of a range, as the width of an image is: plans may go by
   that, and check it at each submission. Other values are left out, so that graphs that differ in them share a plan. */
void client_graph_describe_values(fusion_graph *g);
