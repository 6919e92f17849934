/* What the reader has from SPIRV-Tools. Its header can be included only once in a library of C. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Name of an opcode, without the Op. */
const char *tools_op_name(unsigned op);
/* Whose rules hold: SPIR-V's alone, or those of an environment as well. */
enum tools_rules { TOOLS_UNIVERSAL, TOOLS_OPENCL_2_2, TOOLS_VULKAN_1_2, TOOLS_VULKAN_1_3 };
/* False: *why says what is wrong, to be freed. */
bool tools_validate(const uint32_t *words, size_t n, enum tools_rules rules, char **why);
/* Calls `see` for each instruction with its first word's place, and the ids of its result and of its type (0: none). */
typedef void tools_visitor(void *data, unsigned op, unsigned n_words, uint32_t type, uint32_t id);
bool tools_parse(const uint32_t *words, size_t n, tools_visitor *see, void *data);
