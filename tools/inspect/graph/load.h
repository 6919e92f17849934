/* A graph file brought to life in a session: its modules, buffers and graph. */
#pragma once

#include "tools/inspect/graph/graph_data.h"

struct loaded_buffer {
    const struct file_buffer *file;
    fusion_buffer *buffer; /* one of these three */
    void *usm;
    fusion_image *image;
};

struct loaded {
    const struct graph_file *file;
    fusion_session *session;
    fusion_module **modules;       /* as the file's */
    struct loaded_buffer *buffers; /* as the file's */
    fusion_graph *graph;
    fusion_node *nodes; /* as the file's */
    fusion_exec *exec;  /* of a saved executable, which has its memory and no graph; else NULL */
};

/* False with "FILE:LINE: reason" on stderr. */
bool loaded_open(struct loaded *l, fusion_session *session, const struct graph_file *file);
/* Frees what is ours; modules, buffers and graph go with the session. */
/* The library's last error, with the line of the node that it names, if it does. Always false. */
bool loaded_fail(const struct loaded *l);
void loaded_close(struct loaded *l);
/* A module of one file or of several, linked. graph: the file whose folder the paths count from and whose lines errors
   name; NULL: there is none. False with a message. */
bool load_module(fusion_session *s, const char *graph, const struct file_module *f, fusion_module **module);
/* The memory of a buffer that is no image. NULL with a message. */
void *loaded_memory(struct loaded *l, uint32_t buffer);
/* Nobody here reads or writes it until it is asked for again: it may stay with a device. */
void loaded_leave(struct loaded *l, uint32_t buffer);
/* Index of a buffer by name, -1 with a message. */
int loaded_find(const struct loaded *l, const char *name);
