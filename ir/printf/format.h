/* printf of OpenCL C (6.15.14): a format and its arguments become text. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/strbuf.h"

enum { IR_FORMAT_MAX = 64 << 10 /* bytes of one message, and of a format; what is beyond is cut */ };

/*
 * Arguments lie one behind the other, each a word that says what it is and its components, padded to 8 bytes; a vector
 * of 3 takes the room of 4. A word of 0 ends them. Any type may stand behind any conversion: numbers are converted.
 */
enum ir_format_kind { IR_FORMAT_INT, IR_FORMAT_FLOAT, IR_FORMAT_POINTER };

/* The word before an argument: bytes of a component, and how many there are. */
static inline uint64_t ir_format_word(enum ir_format_kind kind, unsigned bytes, unsigned lanes)
{
    return (uint64_t)kind | (uint64_t)bytes << 8 | (uint64_t)lanes << 16;
}

/* Bytes of an argument without its word. */
static inline uint64_t ir_format_room(unsigned bytes, unsigned lanes)
{
    return ((uint64_t)bytes * (lanes == 3 ? 4 : lanes) + 7) & ~(uint64_t)7;
}

/* Adds at most `most` bytes of the string at an address of the kernel, up to its end. */
typedef void ir_format_string(void *data, uint64_t address, uint64_t most, struct strbuf *to);

void ir_format(struct strbuf *to, const char *format, const void *args, uint64_t size, ir_format_string *string,
               void *data);

/* The conversion of the next directive that takes an argument, from *at on, which is moved behind it. False: there is
   none. */
bool ir_format_next(const char **at, char *conversion);
