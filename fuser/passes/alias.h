/* Which memory an instruction touches, and whether two places in memory can be the same one. */
#pragma once

#include "ir/core/ir.h"

/* A place in memory: base + index * scale + offset, size bytes. */
struct alias_place {
    const struct ir_value *root;  /* parameter, variable or global it lies in; NULL: not known */
    const struct ir_value *base;  /* address that the rest is added to */
    const struct ir_value *index; /* NULL: none */
    enum ir_op extends;           /* the index is extended so, from 32 bits; 0: it is not */
    uint64_t scale, offset;       /* modulo 2^64 */
    uint64_t size;                /* UINT64_MAX: not known, before and behind */
    enum ir_space space;
};

enum alias_effect {
    ALIAS_NONE,   /* touches no memory that pointers reach */
    ALIAS_ACCESS, /* reads, writes or both, at the places given */
    ALIAS_SYNC,   /* what other work-items wrote becomes visible, what this one wrote is seen by others */
    ALIAS_CALL,   /* may do anything */
};

/* What an instruction does; read and write are NULL-rooted where effect is ACCESS and does not do that. */
struct alias_access {
    enum alias_effect effect;
    bool reads, writes;
    struct alias_place read, write;
};

/* Facts about one function. */
struct alias {
    const struct ir_module *module;
    bool kernel;      /* its pointer parameters never overlap: checked where work is submitted */
    bool is_small;    /* what its pointer parameters point into has at most 2^31 bytes */
    bool *escapes;    /* variables, by number of their address: it goes where we lose it */
    bool *written;    /* parameters and globals, by number, that something in the function writes */
    bool any_written; /* something writes through a pointer we know nothing of, or a call may */
};

/* Uses the numbers that the values of f have (pass_number), n of them. */
void alias_init(struct alias *a, struct ir_function *f, uint32_t n);
void alias_clear(struct alias *a);

/* The parameter, variable or global that an address is in; NULL: not known. */
const struct ir_value *alias_root(const struct ir_value *v);
struct alias_place alias_place(const struct alias *a, const struct ir_value *address, uint64_t size);
struct alias_access alias_access(const struct alias *a, const struct ir_inst *inst);
bool alias_may(const struct alias *a, const struct alias_place *x, const struct alias_place *y);
/* What the access reads or writes may be part of the place. */
bool alias_touches(const struct alias *a, const struct alias_access *access, const struct alias_place *place);
/* The same place but for the offset. */
bool alias_same_base(const struct alias_place *x, const struct alias_place *y);
/* The same bytes for sure. */
bool alias_must(const struct alias_place *x, const struct alias_place *y);
/* No other work-item and no unseen code changes it while the function runs. */
bool alias_is_stable(const struct alias *a, const struct alias_place *x);
