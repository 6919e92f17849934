/* The interpreter's machine: memory, work-items, the group that runs, and what the run is about. */
#pragma once

#include "ir/base/arena.h"
#include "ir/interp/code.h"
#include "ir/interp/run.h"

struct reported;

/* ---- memory ---- */

/* A pointer is the number of an allocation and an offset into it. Offset 0 is in the middle of its
   range, so that a pointer before the beginning still names its allocation. 0 is null. */
enum { POINTER_OFFSET_BITS = 44 };

/* Bytes of local memory in one piece, and of variables of one function. */
enum { MAX_OWN_MEMORY = 64 << 20 };

enum memory_origin { MEMORY_ARG, MEMORY_LOCAL_ARG, MEMORY_GLOBAL, MEMORY_VARIABLE, MEMORY_IMAGE, MEMORY_FOUND };

/* Who touched a byte, where and when. */
struct touch {
    uint32_t item; /* number plus 1; 0: nobody */
    uint32_t inst; /* id * 2 + atomic */
    uint32_t time;
};

struct race_cell {
    struct touch writer;
    struct touch first_reader, reader, other_reader; /* since that write; the last two are different items */
};

struct allocation {
    uint8_t *data;
    uint64_t size;
    uint8_t *written;        /* one byte per byte; NULL: all is written */
    struct race_cell *cells; /* one per byte; NULL: not watched */
    enum ir_space space;
    uint8_t fence;  /* enum ir_fence_space: which barriers order accesses */
    uint32_t owner; /* private: number of the work-item */
    bool live, no_read, no_write;
    enum memory_origin origin;
    uint32_t index;       /* argument */
    const char *name;     /* may be NULL */
    const char *function; /* variables */
    const uint8_t *init;  /* local: what each group finds in it; NULL: nothing */
    uint32_t next_free;
};

struct memory {
    struct allocation *items; /* [0] is null */
    uint32_t n, capacity;
    uint32_t free_first, free_last, n_free; /* a queue: numbers rest before they come again */
};

enum access_flag {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_ATOMIC = 4,
    ACCESS_COPY = 8 /* unwritten bytes may be read */
};

struct access {
    uint64_t address, size;
    enum ir_space space;
    uint32_t align;
    unsigned flags;
    const void *value; /* what will be written, or NULL; only for messages */
};

/* ---- work-items and groups ---- */

struct frame {
    const struct code_function *function;
    const struct code_inst *pc;
    uint32_t base;  /* first of its slots */
    uint8_t *bytes; /* its private memory, then as many bytes that say what is written */
};

enum item_state { ITEM_RUNNING, ITEM_WAITING, ITEM_DONE };

struct item {
    enum item_state state;
    uint64_t global[3], local[3];
    uint32_t number;    /* in the ND-range: group by group */
    uint32_t linear;    /* in the group */
    uint32_t sub_group; /* linear / size */
    uint32_t sub_local; /* linear % size */
    struct frame *frames;
    uint32_t n_frames, frame_capacity;
    uint64_t *slots;
    uint32_t n_slots, slot_capacity;
};

struct group {
    uint64_t id[3], size[3];
    uint32_t index, n_items, n_sub_groups;
    struct item *items;
    struct item **party;             /* those that go on together */
    uint32_t barrier_time[3];        /* of the last barrier of the group, per fence space */
    uint32_t (*sub_barrier_time)[3]; /* of each sub-group */
};

struct image {
    struct ir_image info;
    uint64_t address;
    struct ir_image_format format;
};

/* Packets that work-items have set aside and not committed. */
struct reservation {
    bool writes;
    uint64_t id, first;
    uint32_t n;
    const struct code_inst *at; /* what made it */
};

struct pipe {
    struct interp_pipe *store;
    const struct ir_global *global; /* module-scope; NULL: an argument */
    uint64_t reserved[2];           /* packets taken and put so far, with those of reservations */
    struct reservation *open;       /* in the order in which they were made */
    uint32_t n_open, most_open;
};

struct machine {
    const struct ir_function *kernel;
    const struct ir_module *module;
    struct nd_range range;
    struct interp_options options;
    struct interp_result *result;
    const struct interp_arg *args;
    struct arena *arena; /* lives for the run */
    struct code code;
    struct code_function *entry;
    struct memory memory;
    uint64_t *arg_values; /* IR_MAX_LANES words per parameter */
    uint64_t *globals;    /* address per module-scope variable; 0: not yet made */
    struct image *images;
    struct pipe *pipes;
    uint32_t n_images, n_pipes;
    uint32_t n_bound; /* allocations before the first work-item starts */
    uint64_t n_groups[3];
    uint32_t group_volume, sub_group_size; /* of complete ones */
    struct group group;
    struct item *done;        /* the last one that is, with its memory; NULL: it was given away */
    uint32_t time;            /* goes up at each barrier */
    uint64_t *words;          /* most_words: values on their way */
    const uint8_t **by_value; /* bytes of by-value arguments on their way */
    struct reported *reported;
    void **shadows; /* to be freed at the end */
    uint32_t n_shadows;
    bool stopped;
};
