/* Types of the kernel language: a type is a number, so types compare with ==. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum ir_kind {
    IR_KIND_VOID,
    IR_KIND_BOOL,
    IR_KIND_I8,
    IR_KIND_I16,
    IR_KIND_I32,
    IR_KIND_I64,
    IR_KIND_F16,
    IR_KIND_F32,
    IR_KIND_F64,
    IR_KIND_PTR,    /* opaque; detail = address space */
    IR_KIND_STRUCT, /* detail = index in ir_module.structs; only in memory */
    IR_KIND_ARRAY,  /* detail = index in ir_module.arrays; only in memory */
    IR_KIND_IMAGE,  /* detail = enum ir_handle_access and, above its two bits, enum ir_image_form */
    IR_KIND_SAMPLER,
    IR_KIND_PIPE, /* detail = enum ir_handle_access */
    IR_KIND_COUNT
};

/* Address spaces, OpenCL's names. */
enum ir_space {
    IR_SPACE_PRIVATE,
    IR_SPACE_GLOBAL,
    IR_SPACE_CONSTANT,
    IR_SPACE_LOCAL,
    IR_SPACE_GENERIC,
    IR_SPACE_COUNT
};

/* What an image or a pipe may be used for. */
enum ir_handle_access { IR_HANDLE_READ, IR_HANDLE_WRITE, IR_HANDLE_READ_WRITE, IR_HANDLE_ACCESS_COUNT };

/* What the coordinates of an image are: x; x, layer; x, y; x, y, layer; x, y, z. */
enum ir_image_form {
    IR_IMAGE_2D,
    IR_IMAGE_1D,
    IR_IMAGE_1D_ARRAY,
    IR_IMAGE_1D_BUFFER,
    IR_IMAGE_2D_ARRAY,
    IR_IMAGE_3D,
    IR_IMAGE_FORM_COUNT
};

/* kind in bits 0-4, lanes (1, 2, 3, 4, 8, 16) in bits 5-9, detail in bits 10-31. */
typedef uint32_t ir_type;

enum { IR_MAX_LANES = 16, IR_MAX_ARRAYS = 16384 /* array types of a module */ };

#define IR_TYPE(kind, lanes, detail) ((ir_type)(kind) | (ir_type)(lanes) << 5 | (ir_type)(detail) << 10)
#define IR_VOID IR_TYPE(IR_KIND_VOID, 1, 0)
#define IR_BOOL IR_TYPE(IR_KIND_BOOL, 1, 0)
#define IR_I8 IR_TYPE(IR_KIND_I8, 1, 0)
#define IR_I16 IR_TYPE(IR_KIND_I16, 1, 0)
#define IR_I32 IR_TYPE(IR_KIND_I32, 1, 0)
#define IR_I64 IR_TYPE(IR_KIND_I64, 1, 0)
#define IR_F16 IR_TYPE(IR_KIND_F16, 1, 0)
#define IR_F32 IR_TYPE(IR_KIND_F32, 1, 0)
#define IR_F64 IR_TYPE(IR_KIND_F64, 1, 0)
#define IR_PTR(space) IR_TYPE(IR_KIND_PTR, 1, space)
#define IR_IMAGE(form, access) IR_TYPE(IR_KIND_IMAGE, 1, (access) | (form) << 2)

static inline enum ir_kind ir_type_kind(ir_type t)
{
    return (enum ir_kind)(t & 31);
}
static inline unsigned ir_type_lanes(ir_type t)
{
    return t >> 5 & 31;
}
static inline uint32_t ir_type_detail(ir_type t)
{
    return t >> 10;
}
static inline enum ir_space ir_type_space(ir_type t)
{
    return (enum ir_space)ir_type_detail(t);
}

/* Of an image or a pipe. */
static inline enum ir_handle_access ir_type_handle_access(ir_type t)
{
    return (enum ir_handle_access)(t >> 10 & 3);
}
static inline enum ir_image_form ir_type_image_form(ir_type t)
{
    return (enum ir_image_form)(t >> 12);
}
static inline bool ir_image_is_array(enum ir_image_form f)
{
    return f == IR_IMAGE_1D_ARRAY || f == IR_IMAGE_2D_ARRAY;
}
/* Coordinates, that of the layer too. */
static inline unsigned ir_image_coordinates(enum ir_image_form f)
{
    return f == IR_IMAGE_2D_ARRAY || f == IR_IMAGE_3D ? 3 : f == IR_IMAGE_2D || f == IR_IMAGE_1D_ARRAY ? 2 : 1;
}

/* The same kind with another number of lanes. */
static inline ir_type ir_type_with_lanes(ir_type t, unsigned lanes)
{
    return IR_TYPE(ir_type_kind(t), lanes, ir_type_detail(t));
}
static inline ir_type ir_type_element(ir_type t)
{
    return ir_type_with_lanes(t, 1);
}

static inline bool ir_type_is_ptr(ir_type t)
{
    return ir_type_kind(t) == IR_KIND_PTR;
}
static inline bool ir_type_is_bool(ir_type t)
{
    return ir_type_kind(t) == IR_KIND_BOOL;
}
static inline bool ir_type_is_int(ir_type t)
{
    return ir_type_kind(t) >= IR_KIND_I8 && ir_type_kind(t) <= IR_KIND_I64;
}
static inline bool ir_type_is_float(ir_type t)
{
    return ir_type_kind(t) >= IR_KIND_F16 && ir_type_kind(t) <= IR_KIND_F64;
}
static inline bool ir_type_is_number(ir_type t)
{
    return ir_type_kind(t) >= IR_KIND_BOOL && ir_type_kind(t) <= IR_KIND_F64;
}
static inline bool ir_type_is_vector(ir_type t)
{
    return ir_type_lanes(t) > 1;
}
/* What an SSA value can be: numbers, vectors of them, pointers, images, samplers, pipes. */
static inline bool ir_type_is_value(ir_type t)
{
    enum ir_kind k = ir_type_kind(t);
    return k != IR_KIND_VOID && k != IR_KIND_STRUCT && k != IR_KIND_ARRAY;
}

/* Bits of one lane of a number: bool 1, else 8 to 64. 64 for a pointer, 0 for the rest. */
unsigned ir_type_bits(ir_type t);
