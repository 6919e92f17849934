/* Words of SPIR-V that grow at their end. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* All zeros is empty; free() words when done. */
struct spw_words {
    uint32_t *words;
    size_t n, capacity;
};

/* An instruction of an opcode and its operands, ids of type and result among them. */
void spw_put(struct spw_words *w, unsigned opcode, const uint32_t *operands, size_t n);
#define SPW_PUT(words, opcode, ...)                                                                                    \
    spw_put(words, opcode, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
void spw_append(struct spw_words *w, const uint32_t *words, size_t n);
/* The words of a string: its bytes and a 0. Gives how many; at most `room` are written. */
size_t spw_string(const char *s, uint32_t *words, size_t room);
