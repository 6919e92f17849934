/* Types: SPIR-V's as those of ir. Pointers are opaque there; what they point at stays with SPIR-V's ids. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* The type of a value or of memory; reports a type that has no counterpart and gives i32 then. */
ir_type spirv_type(struct spirv_reader *r, const struct spirv_inst *user, uint32_t type);
/* The type of an instruction's result, which has a counterpart. */
static inline ir_type spirv_result_type(const struct spirv_reader *r, const struct spirv_inst *i)
{
    return r->types[i->type].ir;
}
/* How many values one of the type consists of. */
uint32_t spirv_leaves(const struct spirv_reader *r, uint32_t type);
/* The type of what a pointer type points at; 0 where type is no pointer. */
uint32_t spirv_pointee(const struct spirv_reader *r, uint32_t type);
/* The address space of a storage class; -1: it is none of OpenCL's. */
int spirv_space_of(uint32_t storage_class);
/* The same; reports what is none and gives private then. */
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
