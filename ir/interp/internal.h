/* The interpreter's machine: what the files interp*.c share. */
#pragma once

#include "ir/base/arena.h"
#include "ir/interp/interp.h"

/* ---- code (interp_code.c): functions with their values numbered into the slots of a frame ---- */

struct operand {
    const uint64_t *constant; /* NULL: a slot of the frame */
    uint32_t slot;
};

struct code_inst {
    const struct ir_inst *ir;
    struct operand *operands;
    uint32_t *results;        /* slots */
    struct code_block *block; /* where it stands */
    struct code_block *blocks[2];
    struct code_function *callee;
    struct code_inst *target; /* break, continue: the loop; yield: the if */
    uint32_t id;              /* unique in the program */
    uint32_t round;           /* loop: slot of its count of rounds */
    uint32_t var;             /* var: index in the function's variables */
};

struct code_block {
    struct code_function *function;
    struct code_inst *owner; /* NULL: a function's body */
    struct code_inst *insts;
    uint32_t n_insts, depth;
    uint32_t *args; /* slots */
};

/* Private memory of one instruction var or one by-value parameter. */
struct code_var {
    const char *name;
    uint64_t size, offset; /* in the frame's bytes */
    uint32_t slot;         /* holds its address while it is alive, else 0 */
    uint32_t param;        /* by-value parameter; else UINT32_MAX */
};

struct code_function {
    const struct ir_function *ir;
    struct code_block *body;
    uint32_t *params; /* slots */
    uint32_t n_slots, n_vars;
    struct code_var *vars;
    uint64_t private_bytes;
    struct code_function *next;
};

struct code {
    struct arena *arena;
    struct code_function *functions; /* the kernel and all it calls */
    struct code_inst **insts;        /* by id */
    uint32_t n_insts;
    uint32_t most_words; /* most words that one instruction moves */
};

struct code_function *interp_code_build(struct code *code, const struct ir_function *kernel);

/* ---- memory (interp_memory.c) ---- */

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

struct machine;
struct item;

void interp_memory_init(struct memory *memory);
void interp_memory_finish(struct memory *memory);
/* The address of a new allocation; 0 when there are too many. */
uint64_t interp_memory_add(struct memory *memory, const struct allocation *allocation);
void interp_memory_end(struct memory *memory, uint64_t address); /* later accesses are use after return */
struct allocation *interp_memory_find(struct memory *memory, uint64_t address); /* NULL: no such allocation */
int64_t interp_memory_offset(uint64_t address);
/* Where it is in this process: the same for addresses of the same byte, by whatever allocations; 0 for null. */
uint64_t interp_memory_place(struct memory *memory, uint64_t address);
/* An address that may be one in this process as one of the interpreter's; as it is where no memory is known there. */
uint64_t interp_memory_own(struct machine *m, uint64_t address);
/* "argument 2 `t` (4096 bytes)" into buf; returns buf. */
const char *interp_memory_describe(const struct allocation *a, char *buf, size_t size);

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

/* Checks an access and takes note of it; what it finds is reported. The bytes, or NULL where the
   access must not happen. */
uint8_t *interp_memory_access(struct machine *m, struct item *item, const struct code_inst *at, const struct access *a);

/* ---- races (interp_race.c) ---- */

void interp_race_note(struct machine *m, struct item *item, const struct code_inst *at, struct allocation *memory,
                      uint64_t offset, const struct access *a);

/* ---- values in memory (interp_value.c) ---- */

unsigned interp_lane_size(ir_type t);
uint64_t interp_value_size(ir_type t); /* lanes only: a vector of 3 has no fourth */
void interp_value_read(ir_type t, const uint8_t *bytes, uint64_t *lanes);
void interp_value_write(ir_type t, uint8_t *bytes, const uint64_t *lanes);

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
    struct item **party;             /* those that meet */
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

/* interp.c: zeroed memory for the run, n * size bytes; NULL, with the machine stopped, when there is too little. */
void *interp_shadow(struct machine *m, uint64_t n, uint64_t size);
/* bind.c: makes arguments and module-scope variables ready. False, with a finding, where they do not fit. */
bool interp_bind(struct machine *m);
void interp_bind_group(struct machine *m); /* local memory as a new group finds it */

/* report.c: at most one finding of a kind per instruction (and other instruction). item, at may be NULL. */
struct other_access {
    uint64_t item[3];
    uint32_t inst;
};
void interp_report(struct machine *m, enum interp_finding_kind kind, const struct item *item,
                   const struct code_inst *at, const char *format, ...) __attribute__((format(printf, 5, 6)));
void interp_report_pair(struct machine *m, enum interp_finding_kind kind, const struct item *item,
                        const struct code_inst *at, const struct other_access *other, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
void interp_report_finish(struct machine *m);

/* exec.c */
bool interp_item_start(struct machine *m, struct item *item); /* puts the kernel's frame up */
void interp_item_run(struct machine *m, struct item *item);   /* until it waits, is done, or the machine stops */
void interp_item_clear(struct machine *m, struct item *item);
static inline const struct code_inst *interp_item_at(const struct item *item)
{
    return item->frames[item->n_frames - 1].pc;
}
/* Operand i of the instruction the work-item is at, and the slots of its result. */
const uint64_t *interp_item_operand(const struct item *item, uint32_t i);
uint64_t *interp_item_result(const struct item *item);
void interp_item_advance(struct item *item); /* behind that instruction */

/* item.c: ids and sizes. False: not one of these operations. */
bool interp_item_query(const struct machine *m, const struct item *item, const struct ir_inst *inst, uint64_t *r);
void interp_item_of_number(const struct machine *m, uint32_t number, uint64_t global[3]);

/* access.c: instructions that touch memory. False: not one of these. */
bool interp_access_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r);

/* meet.c: lets work-items that wait for each other go on. False: none can. */
bool interp_meet(struct machine *m);
void interp_meet_report(struct machine *m); /* says which wait for which */

/* collective.c: the operation of all these work-items, which wait at it. */
void interp_collective_exec(struct machine *m, struct item *const *items, uint32_t n);

/* image.c, pipe.c, print.c */
bool interp_image_bind(struct machine *m, const struct interp_arg *arg, uint32_t param, uint64_t *handle,
                       const char **why);
bool interp_image_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r);
void interp_image_block_exec(struct machine *m, struct item *item);
uint64_t interp_pipe_add(struct machine *m, struct interp_pipe *store, const struct ir_global *global);
uint64_t interp_pipe_of_global(struct machine *m, const struct ir_global *global);
bool interp_pipe_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r);
void interp_pipe_finish(struct machine *m); /* says which reservations the kernel left open */
bool interp_print_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r);
