/* Pictures in files: JPEG and PNG in, PNG out; 8-bit RGBA in memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct picture {
    uint32_t width, height;
    uint32_t *pixels; /* 0xAABBGGRR, row by row */
};

/* Reads a JPEG or PNG (told apart by content). False where it failed, as do those that follow: picture_reason() is why.
 */
bool picture_read(const char *path, struct picture *p);
/* A generated one, where there is no file: colour ramps, shapes and noise. */
bool picture_generate(uint32_t width, uint32_t height, struct picture *p);
bool picture_write(const char *path, const struct picture *p);
void picture_clear(struct picture *p);
/* Of the last failure. */
const char *picture_reason(void);
