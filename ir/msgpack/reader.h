/*
 * Reads the msgpack of a module one element at a time (ir/base/cursor.h), and says what is wrong. msgpack-c's own
 * unpacker is not used on strangers' bytes: it allocates an array as long as the header claims before it sees one
 * element, so five bytes can ask for 100 GB.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/diag.h"

/* After the first mistake, which goes to list, every read gives zeros and empty arrays. */
struct codec_reader {
    const uint8_t *bytes;
    size_t size, at;
    bool failed;
    struct diag_list *list;
};

void codec_fail(struct codec_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The next element is nil: then it is read. */
bool codec_read_nil(struct codec_reader *r);
bool codec_read_bool(struct codec_reader *r, const char *what);
uint64_t codec_read_uint(struct codec_reader *r, uint64_t most, const char *what);
int64_t codec_read_int(struct codec_reader *r, const char *what);
/* The next element is an array. */
bool codec_at_array(const struct codec_reader *r);
/* Elements that follow: never more than there are bytes left. */
uint32_t codec_read_array(struct codec_reader *r, const char *what);
/* An array that must have n elements. */
void codec_read_array_of(struct codec_reader *r, uint32_t n, const char *what);
/* Characters and bytes lie in the input; characters hold no 0. NULL after a mistake. */
const char *codec_read_str(struct codec_reader *r, size_t *n, const char *what);
const uint8_t *codec_read_bin(struct codec_reader *r, size_t *n, const char *what);
