/* Writing integration headers and footers. */
#include "tools/inspect/integration.h"

#include <ctype.h>
#include <errno.h>
#include <fusiond/pipe.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/terminal/complain.h"

enum { MAX_IDENTIFIER = 256 };

/* The pipe's name as C has it. */
static void identifier(const char *name, char out[MAX_IDENTIFIER])
{
    size_t n = 0;
    if (isdigit((unsigned char)*name)) out[n++] = '_';
    for (; *name && n < MAX_IDENTIFIER - 1; name++) out[n++] = isalnum((unsigned char)*name) ? *name : '_';
    out[n] = 0;
}

static const fusion_pipe_info *host_pipe(const fusion_module *m, uint32_t i)
{
    const fusion_pipe_info *p = fusion_module_pipe(m, i);
    return *p->id ? p : NULL;
}

static bool names_differ(const fusion_module *m)
{
    char name[MAX_IDENTIFIER], other[MAX_IDENTIFIER];
    for (uint32_t i = 0; i < fusion_module_pipe_count(m); i++) {
        if (!host_pipe(m, i)) continue;
        identifier(host_pipe(m, i)->name, name);
        for (uint32_t k = 0; k < i; k++) {
            if (!host_pipe(m, k)) continue;
            identifier(host_pipe(m, k)->name, other);
            if (strcmp(name, other) != 0) continue;
            complain("pipes", "invalid", "pipes %s and %s are both called %s in C", host_pipe(m, k)->name,
                     host_pipe(m, i)->name, name);
            return false;
        }
    }
    return true;
}

/* name: of the files. */
static void write_header(FILE *f, const fusion_module *m, const char *of)
{
    (void)of;
    char name[MAX_IDENTIFIER];
    fputs("/* Host pipes, to be included before FUSION_HOST_PIPE(). Written by fusion-inspect pipes --integration. */\n"
          "#pragma once\n\n#include <fusiond/pipe.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
          f);
    for (uint32_t i = 0; i < fusion_module_pipe_count(m); i++) {
        const fusion_pipe_info *p = host_pipe(m, i);
        if (!p) continue;
        identifier(p->name, name);
        fprintf(f, "\nenum { fusion_pipe_packet_bytes_%s = %" PRIu64 " };\n", name, p->packet_bytes);
        fprintf(f, "extern const struct fusion_host_pipe %s __attribute__((weak));\n", name);
    }
    fputs("\n#ifdef __cplusplus\n}\n#endif\n", f);
}

static void write_literal(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c > '~' || strchr("\"\\?", c))
            fprintf(f, "\\%03o", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

/* Pipes that the program does not name have no address. */
static void write_calls(FILE *f, const fusion_module *m, const char *of, bool adds)
{
    char name[MAX_IDENTIFIER];
    fprintf(f, "static void __attribute__((%s)) fusion_%s_host_pipes_of_%s(void)\n{\n",
            adds ? "constructor" : "destructor", adds ? "add" : "remove", of);
    for (uint32_t i = 0; i < fusion_module_pipe_count(m); i++) {
        const fusion_pipe_info *p = host_pipe(m, i);
        if (!p) continue;
        identifier(p->name, name);
        fprintf(f, "    fusion_host_pipe_map_%s(&%s", adds ? "add" : "remove", name);
        if (adds) {
            fputs(", ", f);
            write_literal(f, p->id);
        }
        fputs(");\n", f);
    }
    fputs("}\n", f);
}

static void write_footer(FILE *f, const fusion_module *m, const char *of)
{
    fputs("/* Host pipes, to be included at the end of a unit. Written by fusion-inspect pipes --integration. */\n", f);
    write_calls(f, m, of, true);
    write_calls(f, m, of, false);
}

static bool write_file(const fusion_module *m, const char *prefix, const char *ending,
                       void (*write)(FILE *, const fusion_module *, const char *))
{
    char path[4096], name[MAX_IDENTIFIER];
    const char *slash = strrchr(prefix, '/');
    identifier(slash ? slash + 1 : prefix, name);
    snprintf(path, sizeof path, "%s%s", prefix, ending);
    FILE *f = fopen(path, "we");
    if (f) write(f, m, name);
    bool failed = !f || ferror(f);
    if (f) failed |= fclose(f) != 0;
    if (failed) complain_at(path, 0, 0, "%s", strerror(errno));
    return !failed;
}

bool integration_write(const fusion_module *m, const char *prefix)
{
    return names_differ(m) && write_file(m, prefix, ".h", write_header) &&
           write_file(m, prefix, ".footer.h", write_footer);
}
