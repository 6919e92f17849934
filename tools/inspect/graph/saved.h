/* Saved executables in the place of graph files. */
#pragma once

#include "tools/inspect/graph/load.h"

bool saved_is(const char *path);
/* Loads it, options NULL: as it was saved. What a graph file would say of its memory is in *file, to be freed by
   graph_file_free(). False with a message. */
bool saved_open(struct loaded *l, fusion_session *session, const char *path, const fusion_finalize_options *options,
                struct graph_file **file);
