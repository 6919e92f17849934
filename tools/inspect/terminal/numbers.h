/* Numbers as people read them. */
#pragma once

#include <stdint.h>

enum { NUMBER_TEXT = 32 };

const char *size_text(uint64_t bytes, char out[NUMBER_TEXT]);  /* "16.8 MB" into out, which is returned */
const char *time_text(uint64_t ns, char out[NUMBER_TEXT]);     /* "3.21 ms" */
const char *duration_text(uint64_t ms, char out[NUMBER_TEXT]); /* "3 h 12 min", of what takes long */
