/* The native binary of a module: a head that says whose it is, and the module with its constants specialized. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t native_size(size_t module_size);
void native_write(uint8_t *out, const uint8_t *module, size_t size);
const uint8_t *native_read(const uint8_t *binary, size_t size, size_t *module_size); /* NULL: it is none of ours */
