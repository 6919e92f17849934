/* A module on its way out: its sections in the order that SPIR-V asks for, and what in them exists once. */
#pragma once

#include <stdbool.h>

#include "fuser/spirv/module/words.h"
#include "ir/base/map.h"

enum spw_section {
    SPW_CAPABILITIES,
    SPW_EXTENSIONS,
    SPW_IMPORTS,
    SPW_MEMORY_MODEL,
    SPW_ENTRY_POINT,
    SPW_MODES,
    SPW_DEBUG,
    SPW_NAMES,
    SPW_ANNOTATIONS,
    SPW_GLOBALS, /* types, constants, variables */
    SPW_HEAD,    /* of the function: its begin, parameters, first label */
    SPW_VARIABLES,
    SPW_PROLOGUE, /* the rest of the first block: what is computed once, wherever it is needed */
    SPW_BODY,
    SPW_SECTIONS
};

struct spw_module {
    struct spw_words sections[SPW_SECTIONS];
    uint32_t version, bound;
    struct map known; /* by their words' hash: instructions of SPW_GLOBALS and others that exist once */
    struct spw_words known_words;
};

uint32_t spw_id(struct spw_module *m);
/* The id of an instruction that a section has once: an opcode, the operands before the result (a type or nothing), and
   those behind it. */
uint32_t spw_once(struct spw_module *m, enum spw_section section, unsigned opcode, uint32_t type,
                  const uint32_t *operands, size_t n);
/* The same for instructions without a result. */
void spw_once_only(struct spw_module *m, enum spw_section section, unsigned opcode, const uint32_t *operands, size_t n);
void spw_capability(struct spw_module *m, uint32_t capability);
void spw_extension(struct spw_module *m, const char *name);
uint32_t spw_import(struct spw_module *m, const char *name); /* an instruction set */
void spw_decorate(struct spw_module *m, uint32_t id, uint32_t decoration, const uint32_t *operands, size_t n);

/* All of it behind each other with the header, to be freed. */
uint32_t *spw_assemble(const struct spw_module *m, size_t *n_words);
void spw_clear(struct spw_module *m);
