/* Element types and numbers of graph files. */
#pragma once

#include <fusiond/fusiond.h>

/* A constant as written, "f32 1.5"; the value is to be freed. False: it is none. */
bool constant_parse(const char *text, fusion_constant *constant);

const char *type_name(fusion_type type); /* "f32" */
bool type_parse(const char *name, fusion_type *type);
const char *type_nearest(const char *name); /* that was meant; NULL: none is near */
unsigned type_bytes(fusion_type type);
/* A number as written, as a value of type ("f32", "i64" ...) of at most 8 bytes; false where it is none. */
bool number_parse(const char *text, const char *type, void *value, unsigned *bytes);
