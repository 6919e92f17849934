/* What the files of the SPIR-V reader share. */
#pragma once

#include <spirv/unified1/spirv.h>

#include "ir/base/arena.h"
#include "ir/base/name_map.h"
#include "ir/spirv/spirv.h"
#include "ir/spirv/decode/tools.h"

struct spirv_function;

/* One instruction of the module. */
struct spirv_inst {
    uint16_t op, n;        /* opcode, words */
    uint32_t type, id;     /* ids of the result and of its type; 0: none */
    uint32_t file, line;   /* id of the file's name; 0: unknown */
    const uint32_t *words; /* the first has opcode and length */
};

struct spirv_decoration {
    uint32_t next;         /* of the same target, index + 1; 0: none */
    uint32_t member;       /* of a struct; UINT32_MAX: the target itself */
    uint32_t group;        /* id of a group whose decorations all apply; 0: this is a decoration itself */
    const uint32_t *words; /* from the decoration's number on */
    uint32_t n;
};

/* What is known of an id. */
struct spirv_id {
    const struct spirv_inst *def;
    const char *name;     /* OpName; NULL: none */
    uint32_t decorations; /* the last of its list, index + 1 */
    uint32_t leaves;      /* types: values that one of the type consists of; UINT32_MAX: too many to count */
    ir_type type;         /* types: as ir type */
    uint8_t depth;        /* types: of structs and arrays inside each other */
    uint8_t left;         /* results: depth of the outermost loop that they leave, plus 1; 0: they leave none */
    bool known;           /* types: has a counterpart in ir; variables, functions: was made */
    uint32_t block;       /* results: number of the block that defines it, plus 1; 0: the module */
    const struct spirv_function *owner; /* results: the function that `of` belongs to; NULL: constants */
    union {
        struct ir_value *one;   /* results of one leaf, and constants */
        struct ir_value **many; /* results of several leaves */
        struct spirv_function *function;
    } of;
    struct ir_global *global; /* variables of the module */
};

struct spirv_function {
    const struct spirv_inst *first, *end; /* OpFunction to OpFunctionEnd */
    uint32_t id;
    uint32_t calls;                 /* of it, in the module */
    const struct spirv_inst *entry; /* OpEntryPoint that names it, or what wraps it; NULL: none */
    bool has_body;
    struct spirv_function *wraps; /* it does nothing but call this one with its own parameters */
    struct spirv_function *wrapped_by;
    const char *name;       /* in the module; NULL: none yet */
    const char *refused;    /* why it cannot be read: the first reason, with its place; NULL: it can, so far */
    bool no_signature;      /* refused for its parameters or its result */
    struct ir_function *ir; /* NULL: of what wraps another */
};

/* A variable of the module that cannot be read, which refuses the functions that use it. */
struct spirv_refusal {
    uint32_t id;
    const char *why;
};

struct spirv_reader {
    const struct ir_spirv_options *options;
    bool *specialized; /* by the options' constants: the module has it */
    struct diag_list *list;
    bool failed;          /* for a reason that concerns the whole module */
    bool failed_function; /* since the function or variable that is being read began */
    struct arena *arena;  /* for the reading only */
    struct ir_module *module;
    uint32_t *words; /* in this machine's byte order */
    size_t n_words, used_words;
    uint32_t *value_types; /* by id: id of its type */
    uint32_t *int_types;   /* by id of an integer type: its width */

    struct spirv_inst *insts;
    size_t n_insts;
    struct spirv_id *ids;
    uint32_t bound;
    struct spirv_decoration *decorations;
    size_t n_decorations;
    const struct spirv_inst **modes, **entries, **capabilities, **strings;
    size_t n_modes, n_entries, n_capabilities, n_strings;
    struct spirv_function *functions;
    size_t n_functions;
    uint32_t line_file, line; /* OpLine in force while indexing */
    bool contract;            /* no kernel forbids contraction */
    uint64_t init_budget;     /* bytes that initial values may still take */
    uint64_t value_budget;    /* words for values that control flow may still carry */
    uint64_t effort;          /* nanoseconds, more or less, that control flow may still take */
    uint32_t opencl_std;      /* id of the imported set; 0: none */
    struct names globals, symbols, structs;

    struct spirv_refusal *refusals; /* of variables */
    size_t n_refusals;

    struct spirv_function *function;   /* being read, for messages */
    const struct spirv_inst *variable; /* likewise */
};

/* ---- read.c ---- */

/* Reports what cannot be read: inst (NULL: the module) names the instruction and the line. What is being read is refused:
   a function, a variable, or else the whole module. */
void spirv_fail(struct spirv_reader *r, const struct spirv_inst *inst, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- specialize.c ---- */

/* The bits that the options give a specialization constant, where they do. */
bool spirv_specialized(struct spirv_reader *r, const struct spirv_inst *i, uint64_t *bits);
/* Reports values for constants that are not there; after the types and constants have been read. */
void spirv_check_specialized(struct spirv_reader *r);

/* ---- normalize.c ---- */

/* Replaces the words by a form that can be validated; checks only the lengths of instructions. */
bool spirv_normalize(struct spirv_reader *r);

/* The id that an instruction defines, or 0; *type is what stands for its type. For words that nothing has checked. */
uint32_t spirv_result(const struct spirv_reader *r, const uint32_t *inst, uint32_t *type);
bool spirv_is_terminator(unsigned op);
/* Likewise the word that holds target number k of the terminator at a word, or 0. */
size_t spirv_target(const struct spirv_reader *r, const uint32_t *words, size_t at, uint32_t k);

/* ---- debuginfo.c ---- */

/* Drops what is for debuggers alone, but for lines; part of spirv_normalize(). */
void spirv_drop_debug_info(struct spirv_reader *r);

/* ---- reserve.c ---- */

/* Makes ids of reservations numbers; part of spirv_normalize(). */
void spirv_number_reservations(struct spirv_reader *r);

/* ---- merge.c ---- */

/* Makes types that are the same one; part of spirv_normalize(). */
void spirv_merge_types(struct spirv_reader *r);

/* ---- effort.c ---- */

/* Takes n of what reading the module's control flow may cost; false: that is spent. */
bool spirv_spend_effort(struct spirv_reader *r, uint64_t n);
/* Reports functions that would take the validator too long; right after spirv_normalize(). */
bool spirv_check_effort(struct spirv_reader *r);

/* ---- reach.c ---- */

/* Reports entry points that reach too many functions; likewise. */
bool spirv_check_reach(struct spirv_reader *r);

/* ---- operands.c ---- */

/* Reports operands that the validator would die of; before spirv_widen_selects(). */
bool spirv_check_operands(struct spirv_reader *r);

/* ---- select.c ---- */

/* The same for selections of vectors; after spirv_check_effort(). */
void spirv_widen_selects(struct spirv_reader *r);

/* ---- constituent.c ---- */

/* The same for variables as parts of constants. */
void spirv_cast_constituents(struct spirv_reader *r);

/* ---- interface.c ---- */

/* The same for the variables that entry points list. */
void spirv_complete_interfaces(struct spirv_reader *r);

/* ---- index.c: the module's instructions by id ---- */

bool spirv_index(struct spirv_reader *r);
/* A string that begins at a word; always terminated. */
const char *spirv_string(const uint32_t *words);
struct ir_loc spirv_loc(struct spirv_reader *r, const struct spirv_inst *inst);
/* The words of an id's decoration after its number, or NULL. n may be NULL. */
const uint32_t *spirv_decoration(const struct spirv_reader *r, uint32_t id, SpvDecoration what, uint32_t *n);
bool spirv_has_param_attr(const struct spirv_reader *r, uint32_t id, SpvFunctionParameterAttribute attr);
/* A word people can write, made from any name: of the module's arena, unique in the map. */
const char *spirv_unique_name(struct spirv_reader *r, struct names *map, const char *wish, const char *otherwise);

/* ---- types.c ---- */

void spirv_types(struct spirv_reader *r);
/* The type of a value or of memory; reports a type that has no counterpart and gives i32 then. */
ir_type spirv_type(struct spirv_reader *r, const struct spirv_inst *user, uint32_t type);
/* How many values one of the type consists of. */
uint32_t spirv_leaves(const struct spirv_reader *r, uint32_t type);
/* The type of what a pointer type points at; 0 where type is no pointer. */
uint32_t spirv_pointee(const struct spirv_reader *r, uint32_t type);
enum ir_space spirv_space(struct spirv_reader *r, const struct spirv_inst *user, uint32_t storage_class);
/* The element type and the number of parts of a struct, array, vector or matrix; part 0's type for structs is given
   by index. */
uint32_t spirv_part(const struct spirv_reader *r, uint32_t type, uint32_t index);
uint32_t spirv_n_parts(const struct spirv_reader *r, uint32_t type);
/* How many leaves come before part number index. */
uint32_t spirv_part_leaf(const struct spirv_reader *r, uint32_t type, uint32_t index);
/* Types of all leaves, to be kept as long as the reader. */
const ir_type *spirv_leaf_types(const struct spirv_reader *r, uint32_t type);
/* The place of each leaf in memory: offset and type. Calls visit leaves times, in order. */
typedef void spirv_leaf_visitor(void *data, uint32_t leaf, ir_type type, uint64_t offset);
void spirv_each_leaf(const struct spirv_reader *r, uint32_t type, spirv_leaf_visitor *visit, void *data);

/* ---- constants.c ---- */

/* Reads one constant, after what it is made of. */
void spirv_constant(struct spirv_reader *r, const struct spirv_inst *i);
/* The value of a scalar integer constant. */
bool spirv_constant_uint(const struct spirv_reader *r, uint32_t id, uint64_t *value);
bool spirv_is_constant(const struct spirv_reader *r, uint32_t id);

/* ---- globals.c ---- */

void spirv_globals(struct spirv_reader *r);
/* Why a variable of the module cannot be used, or NULL. */
const char *spirv_why_refused(const struct spirv_reader *r, uint32_t id);
/* Gives a variable the value of a constant, with a finding where that cannot be said. */
void spirv_initialize(struct spirv_reader *r, const struct spirv_inst *user, struct ir_global *g, uint32_t id);
/* The number of a built-in variable, or -1. */
int spirv_builtin(const struct spirv_reader *r, uint32_t id);

/* ---- address.c ---- */

/* The variable (NULL: none, it is a number) and the offset that a constant is the address of; false: it cannot be told,
   which is reported. */
bool spirv_initial_address(struct spirv_reader *r, const struct spirv_inst *user, uint32_t id,
                           struct ir_address *address);

/* ---- arg_types.c ---- */

/* What pointers of a kernel point at, where the module keeps the source's types. */
void spirv_read_arg_types(struct spirv_reader *r, const char *kernel, struct ir_function *f);

/* ---- functions.c ---- */

void spirv_functions(struct spirv_reader *r);
