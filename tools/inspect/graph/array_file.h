/* Arrays in files: .npy (NumPy's format 1 to 3, little endian, C order) and raw bytes. */
#pragma once

#include <fusiond/fusiond.h>

/* Reads path into memory of count elements of type. An .npy must have that type and number of elements,
   any other file exactly the bytes. False with a message on stderr. */
bool array_read(const char *path, fusion_type type, uint64_t count, void *memory);
/* Writes .npy (by the name's ending, with the shape) or raw bytes. */
bool array_write(const char *path, fusion_type type, uint32_t dims, const uint64_t *shape, const void *memory);
