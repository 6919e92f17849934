/* Reading modules and writing files. */
#include "tools/features/modules.h"

#include <errno.h>
#include <fusiond/fusiond.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/msgpack/codec.h"
#include "ir/spirv/spirv.h"
#include "ir/text/parse/parse.h"

static bool is_msgpack(const uint8_t *bytes, size_t size)
{
    return size && ((bytes[0] >= 0x90 && bytes[0] <= 0x9f) || bytes[0] == 0xdc || bytes[0] == 0xdd);
}

static struct ir_module *read_bytes(const uint8_t *bytes, size_t size, const char *path)
{
    struct diag_list list = {0};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct ir_module *m = ir_is_spirv(bytes, size)  ? ir_read_spirv(bytes, size, name, &list)
                          : is_msgpack(bytes, size) ? ir_decode(bytes, size, &list)
                                                    : ir_parse((const char *)bytes, size, name, &list);
    char *findings = m ? NULL : diag_format(&list);
    if (findings) fprintf(stderr, "%s: %s", path, findings);
    free(findings);
    diag_clear(&list);
    if (m && !m->name) m->name = ir_strdup(m, name);
    return m;
}

static struct ir_module *read_opencl_c(const char *path)
{
    void *spirv;
    size_t size;
    char *log;
    bool good = fusion_compile_opencl_c(path, NULL, 0, NULL, &spirv, &size, &log) == FUSION_SUCCESS;
    fputs(log ? log : fusion_last_error()->reason, stderr);
    struct ir_module *m = good ? read_bytes(spirv, size, path) : NULL;
    if (good) free(spirv);
    free(log);
    return m;
}

static struct ir_module *read_file(const char *path)
{
    FILE *in = fopen(path, "rbe");
    uint8_t *bytes = in ? malloc(IR_SPIRV_MAX_SIZE) : NULL;
    struct ir_module *m = NULL;
    if (bytes)
        m = read_bytes(bytes, fread(bytes, 1, IR_SPIRV_MAX_SIZE, in), path);
    else
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    free(bytes);
    if (in) fclose(in);
    return m;
}

struct ir_module *module_read(const char *path)
{
    return fusion_is_opencl_c(path) ? read_opencl_c(path) : read_file(path);
}

bool file_write(const char *path, const void *bytes, size_t size)
{
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "wbe");
    bool good = out && fwrite(bytes, 1, size, out) == size;
    if (out && out != stdout && fclose(out) != 0) good = false;
    if (!good) fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return good;
}
