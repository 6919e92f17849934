/*
 * A graph of kernels as the fuser takes it: plain data, filled in by the caller, checked by fuser_plan_new(). This room
 * has what follows from it alone: how ND-ranges fit together (range.h), the local size where nobody asked for one
 * (local_size.h), how properties combine (props.h). It uses ir/core/ only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuser/cost/cost.h"
#include "fuser/graph/choices.h"
#include "ir/base/nd_range.h"
#include "ir/core/ir.h"

/* access_scope of seed sycl_ext_oneapi_graph_fusion. */
enum fuser_scope { FUSER_SCOPE_NONE, FUSER_SCOPE_WORK_GROUP, FUSER_SCOPE_WORK_ITEM };

/* Properties of a buffer, accessor or USM pointer. */
struct fuser_props {
    enum fuser_scope access_scope;
    bool internal_memory; /* fusion_internal_memory */
    bool no_init;
};

/* A memory object of the graph: a buffer, or a USM allocation. Different ones never overlap. */
struct fuser_buffer {
    const char *name; /* for remarks; unique in the graph */
    uint64_t bytes;
    ir_type elem; /* element type where the client said it, else IR_VOID */
    bool usm;
    struct fuser_props props;
    bool unread;             /* outputs were declared, and it is none: nobody reads it after the graph */
    bool image;              /* kernels take it as a whole, and it always stays in memory */
    enum ir_image_form form; /* of an image */
    uint32_t extent[3];      /* of an image, in pixels */
    bool viewed;             /* arguments take it, a buffer, as an image: then it stays in memory too */
};

/* A scalar or by-value struct argument: stays a parameter of the plan, its bytes come with each submission. What else
   is known of it held when the graph was finalized: a plan may go by it on condition. */
struct fuser_value {
    uint32_t size;
    uint32_t alike; /* values with the same bytes have the same number here; 0: nothing is known */
    int64_t number; /* what it is as a signed integer; 0: not known */
};

enum fuser_arg_kind { FUSER_ARG_BUFFER, FUSER_ARG_VALUE, FUSER_ARG_LOCAL };

struct fuser_arg {
    enum fuser_arg_kind kind;
    /* BUFFER: an accessor on `bytes` bytes from `offset` of buffers[index] */
    /* VALUE: values[index] */
    uint32_t index;
    enum ir_access access; /* BUFFER: what the user declared; IR_ACCESS_UNKNOWN counts as read and write */
    uint64_t offset;
    uint64_t bytes; /* BUFFER: 0 means to the end. LOCAL: size of the work-group memory */
    struct fuser_props props;
    const void *view; /* BUFFER: a buffer as an image1d_buffer; the caller knows by this which one. NULL: it is not */
};

enum fuser_node_kind { FUSER_NODE_KERNEL, FUSER_NODE_COPY, FUSER_NODE_FILL, FUSER_NODE_HOST };

/* What a copy reads or writes of a buffer, a fill writes: rows of bytes, and slices of rows. */
struct fuser_region {
    uint32_t buffer;
    uint64_t offset;      /* of the first byte */
    uint64_t pitch;       /* bytes from a row to the next */
    uint64_t slice_pitch; /* bytes from a slice to the next */
};

struct fuser_node {
    enum fuser_node_kind kind;
    const char *name; /* unique in the graph */
    /* KERNEL */
    const struct ir_function *kernel;
    struct nd_range range;
    uint32_t n_args;
    struct fuser_arg *args; /* HOST too: the buffers it touches */
    const int64_t
        *taken; /* by argument: what integers were taken to be when the fuser made the kernel; NULL: nothing */
    /* COPY, FILL */
    struct fuser_region from, to;
    uint64_t bytes;        /* of a row */
    uint32_t rows;         /* 0: one run of bytes */
    uint32_t plane;        /* rows of a slice; 0: all rows are one slice */
    uint8_t pattern[16];   /* FILL: repeated; bytes is a multiple of pattern_size */
    uint32_t pattern_size; /* 1, 2, 4, 8, 16 */
    bool command;          /* KERNEL: the fuser made it of a copy or fill, and does only that */
    /* explicit edges, indices of nodes; may point at later nodes */
    uint32_t n_deps;
    uint32_t *deps;
};

struct fuser_graph {
    uint32_t n_buffers, n_values, n_nodes;
    struct fuser_buffer *buffers;
    struct fuser_value *values;
    struct fuser_node *nodes; /* in the order they were recorded: it gives the direction of the edges from accesses */
};

enum fuser_mode { FUSER_MODE_NONE, FUSER_MODE_ENABLE, FUSER_MODE_REQUIRE };

/* What the fuser must know of the device. */
struct fuser_device {
    const char *name;
    uint32_t n_targets;
    const char *targets[8]; /* names of what it is, besides its own, as code may be fixed to */
    uint64_t aspects;
    uint32_t n_aspect_numbers;
    const uint32_t *aspect_numbers; /* of those that only modules have names for */
    uint64_t max_work_group_size;
    uint64_t max_local_bytes;
    uint32_t n_sub_group_sizes;
    uint32_t sub_group_sizes[8];
    uint32_t primary_sub_group_size;
    uint64_t register_bytes; /* of vector registers, for each work-item of those computed at once; 0: not known */
    struct cost_machine machine;
    bool fma;         /* has a fused multiply-add: products and sums that may be contracted are */
    bool is_gpu;      /* its work-groups are many and small, and run at the same time */
    bool last_groups; /* the last work-group of a launch can be made to begin when all others have ended */
    bool can_fuse;    /* aspect ext_oneapi_graph_fusion */
};

/* Work-group barriers between kernels that insert_barriers did not ask for. */
enum fuser_barriers {
    FUSER_BARRIERS_AUTOMATIC, /* under enable_fusion where one is needed and enough, which is proved, and pays */
    FUSER_BARRIERS_NONE,
    FUSER_BARRIERS_NEEDED, /* where one is needed and enough, paying or not; under require_fusion too */
};

struct fuser_options {
    enum fuser_mode mode;
    bool insert_barriers; /* between each two kernels */
    enum fuser_barriers barriers;
    bool explain; /* a remark on each buffer that stays in memory, asked for or not */
    bool bounds;  /* kernels check the accesses that are not proved to be inside of their memory */
    bool debug;   /* kernels will run one by one to be watched: none does another's work */
    struct fuser_device device;
    struct fuser_choices choices; /* count under enable_fusion */
};
