/* Graph files (YAML, docs/graph-file.md) as plain data. */
#pragma once

#include <fusiond/fusiond.h>

/* Where something stands in the graph file, counted from 1; all 0: in none. */
struct file_place {
    size_t line, column;
};

/* One file that a module is made of, and how it is read. */
struct file_input {
    struct file_place at;
    char *path;           /* relative to the graph file's folder, or absolute */
    char *sub_group_size; /* NULL: none given */
    char *options;        /* of OpenCL C; NULL: none */
    uint32_t n_constants;
    fusion_constant *constants; /* their values are of the file's, too */
};

struct file_module {
    struct file_place at;
    char *name;
    uint32_t n_inputs; /* more than one: they are linked */
    struct file_input *inputs;
};

struct file_buffer { /* or an image */
    char *name;
    struct file_place at;
    bool is_image;
    fusion_image_desc image;
    fusion_type type; /* of a channel, too */
    uint32_t dims;
    uint64_t shape[4]; /* of an image: slices or layers, height, width, channels, without what it has not */
    uint32_t channels; /* of an image */
    char *of;          /* an image of a buffer: that buffer's name, and where the image begins, in its elements */
    uint64_t of_offset;
    uint64_t count; /* product of shape */
    unsigned properties;
    bool usm;
    bool has_fill;
    double fill;
};

enum file_arg_kind { FILE_ARG_BUFFER, FILE_ARG_NUMBERS, FILE_ARG_LOCAL, FILE_ARG_SAMPLER };

struct file_arg {
    enum file_arg_kind kind;
    struct file_place at;
    char *buffer;
    fusion_access access;
    uint64_t offset, count; /* elements; count 0: to the end */
    unsigned properties;
    uint32_t n_numbers; /* one for a scalar, more for a vector */
    char **numbers;     /* as written */
    uint64_t local_bytes;
    fusion_sampler sampler;
};

enum file_node_kind { FILE_NODE_KERNEL, FILE_NODE_COPY, FILE_NODE_FILL };

struct file_node {
    enum file_node_kind kind;
    struct file_place at;
    char *name; /* NULL: none given */
    char *module, *kernel;
    struct file_place kernel_at;
    uint32_t dims;
    uint64_t global[3], offset[3], local[3];
    uint32_t n_args;
    struct file_arg *args;
    char *from, *to;
    uint64_t from_offset, to_offset, count; /* elements; count 0: all */
    char *value;                            /* FILL of a buffer */
    uint32_t from_at[3], to_at[3], size[3]; /* of images: pixels; size 0: all */
    uint32_t n_channels;
    char *channels[4]; /* FILL of an image */
    uint32_t n_deps;
    char **deps;
    struct file_place *deps_at;
};

struct graph_file {
    char *path;
    uint32_t n_modules, n_buffers, n_nodes;
    struct file_module *modules;
    struct file_buffer *buffers;
    struct file_node *nodes;
    bool has_outputs; /* these are given: */
    uint32_t n_outputs;
    char **outputs;         /* names of buffers and images */
    bool bounds;            /* accesses are checked */
    uint64_t time_limit_ms; /* of submissions; 0: not given */
};
