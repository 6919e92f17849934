/* The fuser's result: what to run, in which order, and why it came out so. */
#pragma once

#include "fuser/graph/graph.h"
#include "fuser/graph/storage.h"

struct arena;

/* Why a plan could not be made: the code of its error; positive, part of the interface. */
enum fuser_status {
    FUSER_OK,
    FUSER_INVALID,               /* the graph contradicts itself: cycle, bad index, mismatch of arguments, overlap */
    FUSER_KERNEL_NOT_SUPPORTED,  /* require_fusion cannot be met, or the kernel needs what the device lacks */
    FUSER_FEATURE_NOT_SUPPORTED, /* the device cannot fuse at all; a sub-group size it does not have */
};

/* A remark: one decision. Codes are stable names, listed in docs/remarks.md. */
struct fuser_remark {
    const char *code;   /* "fused", "not_fused_range", "internalized_private", ... static storage */
    const char *node;   /* name of the node it is about, or "" */
    const char *buffer; /* name of the buffer it is about, or "" */
    const char *text;   /* a sentence with the numbers */
};

enum fuser_param_kind { FUSER_PARAM_BUFFER, FUSER_PARAM_VALUE, FUSER_PARAM_LOCAL, FUSER_PARAM_PROGRAM_VARIABLE };

/* What a parameter of a launched kernel gets. */
struct fuser_param {
    enum fuser_param_kind kind;
    uint32_t index;   /* buffer or value of the graph; PROGRAM_VARIABLE: program_variables[] of the plan */
    uint64_t offset;  /* BUFFER: bytes into it. LOCAL: bytes of work-group memory */
    const void *view; /* BUFFER: of the argument */
};

/* What must hold of the values of a submission, or of a pipe then, for a launch to do what its nodes do. */
struct fuser_condition {
    bool is_pipe;   /* program_variables[value] is empty */
    uint32_t value; /* of the graph: */
    uint32_t like;  /* has the same bytes as this one; the same value: is the number, as a signed integer */
    int64_t number;
    bool at_least; /* like the number: or more than it */
};

/* One launch: a group of nodes as one kernel, alone in its module. */
struct fuser_launch {
    struct ir_module *module; /* verified; holds one kernel */
    const struct ir_function *kernel;
    struct nd_range range; /* local filled in */
    uint64_t work;         /* operations of all work-items: an estimate */
    uint64_t traffic;      /* bytes that it moves over global memory: docs/fusion.md */
    uint64_t operations;   /* of all work-items, as code: an estimate */
    uint64_t predicted_ns; /* that it takes, says fuser/cost; 0: on a device whose machine is not known */
    bool last;             /* its last work-group begins when all others have ended */
    uint32_t n_params;
    struct fuser_param *params; /* as the kernel's parameters */
    uint32_t n_nodes;
    uint32_t *nodes; /* in linear order */
    bool *barriers;  /* by node: a work-group barrier stands before its kernel */
    uint32_t n_conditions;
    struct fuser_condition *conditions;
    uint32_t first_spare, n_spares; /* where a condition does not hold, these of spares[] run instead: one for each node
                                       whose work it does, also where another launch does that too */
    bool together;                  /* a spare: at the same time as the spare before it */
};

enum fuser_step_kind { FUSER_STEP_LAUNCH, FUSER_STEP_NODE };

enum { FUSER_MOST_TOGETHER = 16 };

struct fuser_step {
    enum fuser_step_kind kind;
    uint32_t index; /* launches[] or, for copies, fills and host tasks, nodes[] of the graph */
    bool together;  /* runs at the same time as the launch before it: both wait for pipes. At most so many in a row */
};

/* Launches of steps that follow each other, which run band by band: a few rows of each. Rows, runs of so many
   work-groups, are as fuser/bands has them. */
struct fuser_bands {
    uint32_t first_step, n_steps, n_bands;
    uint32_t at_once; /* so many bands that follow each other may be in work at a time: a part of one of them waits for
                         what the bands before it have to do in earlier launches, and for nothing else */
    uint64_t *ends;   /* by band, then step: work-groups of the launch that have run when the band is over */
    uint32_t n_conditions;
    struct fuser_condition *conditions; /* where one does not hold, the launches run one after the other */
};

/* A program-scope variable or pipe that kernels of the plan share: memory that is there before and after the graph. */
struct fuser_program_variable {
    const struct ir_module *module;
    const struct ir_global *global; /* of that module */
};

struct fuser_plan {
    struct arena *arena; /* owns everything here but the modules */
    uint32_t n_order;
    uint32_t *order; /* all nodes, linear */
    uint32_t n_launches, n_steps, n_remarks;
    struct fuser_launch *launches;
    struct fuser_step *steps;
    uint32_t n_spares;
    struct fuser_launch *spares; /* of single nodes, all buffers in memory */
    struct fuser_remark *remarks;
    uint32_t n_program_variables;
    struct fuser_program_variable *program_variables; /* each once */
    enum fuser_storage *storage; /* per buffer of the graph: not MEMORY = no memory is needed for it */
    uint64_t *rings;             /* per buffer of the graph: not 0 = where the launches that use it run band by
                                    band, it is memory of so many bytes over and over */
    uint32_t n_bands;
    struct fuser_bands *bands;           /* in the order of their steps */
    uint64_t *saved;                     /* per buffer without memory: bytes that its accesses would move over memory */
    uint64_t bytes_unfused, bytes_fused; /* global memory traffic of one run: see docs/fusion.md */
};
