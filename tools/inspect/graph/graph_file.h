/* Reading graph files (YAML, docs/graph-file.md). */
#pragma once

#include "tools/inspect/graph/graph_data.h"

/* Reads a graph file. On failure prints "FILE:LINE: reason" to stderr and returns NULL. */
struct graph_file *graph_file_read(const char *path);
void graph_file_free(struct graph_file *file); /* NULL is fine */
void file_input_clear(struct file_input *input);
const struct file_buffer *graph_file_buffer(const struct graph_file *file, const char *name);
