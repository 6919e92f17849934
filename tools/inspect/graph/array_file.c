/* Reading and writing .npy and raw files. */
#include "tools/inspect/graph/array_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/graph/types.h"
#include "tools/inspect/terminal/complain.h"

static const unsigned char npy_magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { MAX_HEADER = 1 << 20 };

static bool ends_in_npy(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".npy") == 0;
}

/* NumPy's name of a type: "<f4", "|u1". */
static void descr_of(fusion_type type, char out[8])
{
    const char *name = type_name(type);
    unsigned bytes = type_bytes(type);
    char kind = type == FUSION_BYTES ? 'u' : name[0];
    snprintf(out, 8, "%c%c%u", bytes == 1 ? '|' : '<', kind, bytes);
}

/* The text after 'key': in the header's dictionary, or NULL. */
static const char *find_key(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(header, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    while (*at == ' ') at++;
    return at;
}

static bool check_header(const char *path, const char *header, fusion_type type, uint64_t count)
{
    char want[8];
    descr_of(type, want);
    const char *descr = find_key(header, "descr"), *order = find_key(header, "fortran_order"),
               *shape = find_key(header, "shape");
    if (!descr || !order || !shape || *shape != '(') {
        return complain_at(path, 0, 0, "the .npy header is not understood");
    }
    char have[8] = "";
    sscanf(descr, "'%7[^']'", have);
    if (strcmp(have, want)) {
        return complain_at(path, 0, 0, "elements are %s, the buffer's are %s (%s)", have, want, type_name(type));
    }
    uint64_t n = 1;
    uint32_t dims = 0;
    for (const char *p = shape + 1; *p && *p != ')'; dims++) {
        char *end;
        unsigned long long size = strtoull(p, &end, 10);
        if (end == p || __builtin_mul_overflow(n, size, &n)) break;
        p = end;
        while (*p == ',' || *p == ' ') p++;
    }
    if (strncmp(order, "False", 5) && dims > 1) {
        return complain_at(path, 0, 0, "Fortran order is not supported; save it in C order");
    }
    if (n != count) complain_at(path, 0, 0, "%" PRIu64 " elements, the buffer has %" PRIu64, n, count);
    return n == count;
}

static bool read_header(FILE *f, const char *path, fusion_type type, uint64_t count)
{
    unsigned char start[8], size[4] = {0};
    if (fread(start, 1, 8, f) != 8 || memcmp(start, npy_magic, 6) || start[6] < 1 || start[6] > 3) {
        return complain_at(path, 0, 0, "no .npy file of format 1 to 3");
    }
    size_t width = start[6] == 1 ? 2 : 4;
    if (fread(size, 1, width, f) != width) return false;
    size_t n = size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
    char *header = n <= MAX_HEADER ? malloc(n + 1) : NULL;
    bool ok = header && fread(header, 1, n, f) == n;
    if (ok) {
        header[n] = 0;
        ok = check_header(path, header, type, count);
    } else {
        complain_at(path, 0, 0, "the .npy header is cut off");
    }
    free(header);
    return ok;
}

bool array_read(const char *path, fusion_type type, uint64_t count, void *memory)
{
    FILE *f = fopen(path, "rbe");
    if (!f) {
        return complain_at(path, 0, 0, "%s", strerror(errno));
    }
    bool ok = !ends_in_npy(path) || read_header(f, path, type, count);
    uint64_t bytes = count * type_bytes(type);
    if (ok) {
        size_t got = fread(memory, 1, bytes, f);
        ok = got == bytes && fgetc(f) == EOF;
        if (!ok) complain_at(path, 0, 0, "not exactly %" PRIu64 " bytes of elements", bytes);
    }
    fclose(f);
    return ok;
}

static void write_header(FILE *f, fusion_type type, uint32_t dims, const uint64_t *shape)
{
    char text[256], descr[8];
    descr_of(type, descr);
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (uint32_t d = 0; d < dims; d++) n += snprintf(text + n, sizeof text - (size_t)n, "%" PRIu64 ",", shape[d]);
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    int padded = (10 + n + 1 + 63) / 64 * 64 - 10; /* the data begins at a multiple of 64 */
    fwrite(npy_magic, 1, 6, f);
    fwrite((unsigned char[]){1, 0, (unsigned char)(padded & 255), (unsigned char)(padded >> 8)}, 1, 4, f);
    fprintf(f, "%s%*s\n", text, padded - n - 1, "");
}

bool array_write(const char *path, fusion_type type, uint32_t dims, const uint64_t *shape, const void *memory)
{
    FILE *f = fopen(path, "wbe");
    if (!f) {
        return complain_at(path, 0, 0, "%s", strerror(errno));
    }
    uint64_t bytes = type_bytes(type);
    for (uint32_t d = 0; d < dims; d++) bytes *= shape[d];
    if (ends_in_npy(path)) write_header(f, type, dims, shape);
    bool ok = fwrite(memory, 1, bytes, f) == bytes;
    ok = fclose(f) == 0 && ok;
    if (!ok) complain_at(path, 0, 0, "%s", strerror(errno));
    return ok;
}
