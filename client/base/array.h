/* Arrays that grow at their end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for one more item behind the first n; array: the address of its pointer. False: no memory, and nothing changed.
 */
bool client_reserve(void *array, uint32_t n, uint32_t *capacity, size_t item);
