/* Memory that is given out in small pieces and freed all at once. */
#pragma once

#include <stddef.h>

struct arena;

/* Nothing here returns NULL: a process without memory ends. */
struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is fine */
/* Zeroed, aligned to 8 bytes. */
void *arena_alloc(struct arena *a, size_t bytes);
char *arena_strndup(struct arena *a, const char *s, size_t n);
/* A larger copy of an array that grows one element at a time: called with the element count n before
   each append, it moves the array only where n is a power of two. */
void *arena_grow(struct arena *a, void *array, size_t n, size_t element_size);
/* Bytes held from the system. */
size_t arena_size(const struct arena *a);

/* realloc() that ends the process when memory is out. */
void *arena_realloc(void *p, size_t bytes);
_Noreturn void arena_no_memory(size_t bytes); /* that were asked for */
