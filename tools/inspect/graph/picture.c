/* Reading and writing pictures with libjpeg and libpng. */
#include "tools/inspect/graph/picture.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h> /* needs stdio.h before it */

static char last_reason[256];

static bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Always false. */
static bool fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_reason, sizeof last_reason, format, args);
    va_end(args);
    return false;
}

const char *picture_reason(void)
{
    return last_reason;
}

static bool allocate(struct picture *p, uint32_t width, uint32_t height)
{
    *p = (struct picture){width, height, calloc((size_t)width * height, sizeof *p->pixels)};
    return p->pixels || fail("no memory for a picture of %u x %u", width, height);
}

void picture_clear(struct picture *p)
{
    free(p->pixels);
    p->pixels = NULL;
}

/* ---- JPEG ---- */

struct jpeg_failure {
    struct jpeg_error_mgr manager;
    jmp_buf jump;
};

static void jpeg_fail(j_common_ptr info)
{
    char reason[JMSG_LENGTH_MAX];
    info->err->format_message(info, reason);
    fail("%s", reason);
    longjmp(((struct jpeg_failure *)info->err)->jump, 1);
}

/* Below 0: data are missing or wrong, and what would be read is not the picture. */
static void jpeg_tell(j_common_ptr info, int level)
{
    if (level < 0) jpeg_fail(info);
}

static bool read_jpeg(FILE *f, struct picture *p)
{
    struct jpeg_decompress_struct info;
    struct jpeg_failure failure;
    uint8_t *volatile row = NULL;
    info.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = jpeg_fail;
    failure.manager.emit_message = jpeg_tell;
    if (setjmp(failure.jump)) {
        jpeg_destroy_decompress(&info);
        free(row);
        picture_clear(p);
        return false;
    }
    jpeg_create_decompress(&info);
    jpeg_stdio_src(&info, f);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    row = malloc((size_t)info.output_width * 3);
    if (!row || !allocate(p, info.output_width, info.output_height)) longjmp(failure.jump, 1);
    while (info.output_scanline < info.output_height) {
        uint32_t *out = p->pixels + (size_t)info.output_scanline * p->width;
        JSAMPROW rows = row;
        jpeg_read_scanlines(&info, &rows, 1);
        for (uint32_t x = 0; x < p->width; x++)
            out[x] = 0xff000000u | (uint32_t)row[3 * x + 2] << 16 | (uint32_t)row[3 * x + 1] << 8 | row[3 * x];
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    free(row);
    return true;
}

/* ---- PNG ---- */

static bool read_png(const char *path, struct picture *p)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path)) {
        return fail("%s", image.message);
    }
    image.format = PNG_FORMAT_RGBA;
    bool has_room = allocate(p, image.width, image.height);
    if (!has_room || !png_image_finish_read(&image, NULL, p->pixels, 0, NULL)) {
        if (has_room) fail("%s", image.message);
        png_image_free(&image);
        picture_clear(p);
        return false;
    }
    return true;
}

bool picture_write(const char *path, const struct picture *p)
{
    FILE *f = fopen(path, "wbe");
    png_structp png = f ? png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL) : NULL;
    png_infop info = png ? png_create_info_struct(png) : NULL;
    bool ok = info && !setjmp(png_jmpbuf(png));
    if (ok) {
        png_init_io(png, f);
        png_set_IHDR(png, info, p->width, p->height, 8, PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_set_compression_level(png, 1); /* a demonstration waits for the kernels, not for zlib */
        png_set_filter(png, 0, PNG_FILTER_SUB);
        png_write_info(png, info);
        for (uint32_t y = 0; y < p->height; y++)
            png_write_row(png, (png_const_bytep)(p->pixels + (size_t)y * p->width));
        png_write_end(png, info);
    }
    png_destroy_write_struct(&png, &info);
    if (f) ok = fclose(f) == 0 && ok;
    return ok || fail("the picture could not be written");
}

bool picture_read(const char *path, struct picture *p)
{
    unsigned char start[8] = {0};
    *p = (struct picture){0};
    FILE *f = fopen(path, "rbe");
    if (!f) {
        return fail("%s", strerror(errno));
    }
    size_t n = fread(start, 1, sizeof start, f);
    rewind(f);
    bool ok = false;
    if (n == sizeof start && png_sig_cmp(start, 0, 8) == 0)
        ok = read_png(path, p);
    else if (n == sizeof start && start[0] == 0xff && start[1] == 0xd8)
        ok = read_jpeg(f, p);
    else
        fail("neither a JPEG nor a PNG");
    fclose(f);
    return ok;
}

/* ---- generated ---- */

bool picture_generate(uint32_t width, uint32_t height, struct picture *p)
{
    if (!allocate(p, width, height)) return false;
    uint32_t noise = 1;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            noise = noise * 1664525u + 1013904223u;
            uint32_t r = x * 200ull / width, g = y * 200ull / height, b = ((x / 200 + y / 200) & 1) * 120;
            uint32_t grain = noise >> 27;
            p->pixels[(size_t)y * width + x] = 0xff000000u | (b + grain) << 16 | (g + grain) << 8 | (r + grain);
        }
    }
    return true;
}
