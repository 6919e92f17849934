/* Values of a program, checked as they are read: those of a map by their key, those of a list by their place. What is
   wrong is the reader's error, and false. */
#pragma once

#include <msgpack.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/executor/program/device.h"

struct program;

struct reader {
    struct program *p;
    device_finder *find_device;
    struct error *error;
};

/* Always false. The first complaint is the one that is kept. */
bool reader_bad(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* NULL where the key holds no list. */
const msgpack_object_array *reader_array(struct reader *r, const msgpack_object *map, const char *key);
bool reader_uint(struct reader *r, const msgpack_object *map, const char *key, uint64_t max, uint64_t *value);
bool reader_flag(struct reader *r, const msgpack_object *map, const char *key, bool *value);
bool reader_name(struct reader *r, const msgpack_object *map, const char *key, const char **name);
bool reader_element(struct reader *r, const msgpack_object_array *a, uint32_t i, uint64_t max, uint64_t *value);
