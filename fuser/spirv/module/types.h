/* Types and constants, each of which a module has once. */
#pragma once

#include "fuser/spirv/module/module.h"
#include "ir/core/type.h"

uint32_t spw_type_void(struct spw_module *m);
uint32_t spw_type_bool(struct spw_module *m, unsigned lanes);
uint32_t spw_type_int(struct spw_module *m, unsigned bits, unsigned lanes); /* no signedness: as OpenCL asks for */
uint32_t spw_type_float(struct spw_module *m, unsigned bits, unsigned lanes);
/* The type of a number, in so many lanes; asks for the capability that it needs. */
uint32_t spw_type_number(struct spw_module *m, enum ir_kind kind, unsigned lanes);
uint32_t spw_type_pointer(struct spw_module *m, uint32_t storage, uint32_t pointee);
uint32_t spw_type_array(struct spw_module *m, uint32_t element, uint32_t length /* id */);

uint32_t spw_const_u32(struct spw_module *m, uint32_t v);
uint32_t spw_const_u64(struct spw_module *m, uint64_t v);
/* False: the id is no scalar constant. */
bool spw_number_of(const struct spw_module *m, uint32_t id, uint64_t *bits);
/* Of a number's bits; in so many lanes, the same in each. */
uint32_t spw_const_number(struct spw_module *m, enum ir_kind kind, unsigned lanes, uint64_t bits);
uint32_t spw_const_composite(struct spw_module *m, uint32_t type, const uint32_t *parts, size_t n);
uint32_t spw_const_null(struct spw_module *m, uint32_t type);

/* The integer as wide as a number of that kind. */
enum ir_kind spw_int_kind(enum ir_kind kind);
unsigned spw_bits(enum ir_kind kind); /* bool 1 */
