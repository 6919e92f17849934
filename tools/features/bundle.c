/* fusion-inspect bundle: what a bundle has for which targets, and its members as files. Needs no service. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuser/features/bundle.h"
#include "fuser/features/file_table.h"
#include "proto/graph.h"
#include "tools/features/ahead.h"
#include "tools/features/modules.h"

static uint8_t *read_file(const char *path, size_t *size)
{
    struct stat s;
    FILE *in = fopen(path, "rbe");
    uint8_t *bytes = in && fstat(fileno(in), &s) == 0 ? malloc((size_t)s.st_size + 1) : NULL;
    if (bytes)
        *size = fread(bytes, 1, (size_t)s.st_size, in);
    else
        fprintf(stderr, "bundle: %s: %s\n", path, strerror(errno));
    if (in) fclose(in);
    return bytes;
}

/* "x86_64_avx2: add scale: 2 objects" */
static void print_image(const struct bundle *b, const struct file_table *t, const struct file_table_row *row)
{
    static const char *const columns[] = {"Target", "Symbols", "Code"};
    const char *cells[3] = {"", "", ""}, *symbols, *code;
    for (unsigned i = 0; i < 3; i++) {
        int column = file_table_column(t, columns[i]);
        if (column >= 0) cells[i] = row->cells[column];
    }
    symbols = bundle_text(b, cells[1]);
    code = bundle_text(b, cells[2]);
    size_t objects = 0;
    for (const char *c = code ? strchr(code, '\n') : NULL; c && c[1]; c = strchr(c + 1, '\n')) objects++;
    printf("%s:", cells[0]);
    for (const char *s = symbols; s && *s; s += s[strcspn(s, "\n")] == '\n' ? strcspn(s, "\n") + 1 : strcspn(s, "\n"))
        printf(" %.*s", (int)strcspn(s, "\n"), s);
    printf(" (%zu object%s)\n", objects, objects == 1 ? "" : "s");
}

static bool print_images(const struct bundle *b, struct error *e)
{
    struct file_table t;
    const char *text = bundle_text(b, BUNDLE_TABLE);
    file_table_init(&t);
    bool good =
        text ? file_table_read(&t, text, BUNDLE_TABLE, e) == 0 : error_set(e, 1, BUNDLE_TABLE, "it is not there") == 0;
    for (size_t i = 0; good && i < t.n_rows; i++) print_image(b, &t, &t.rows[i]);
    file_table_clear(&t);
    return good;
}

/* Of a saved executable: what its graph does with which memory. */
static bool print_executable(const struct bundle *b, const char *path, struct error *e)
{
    const struct bundle_member *member = bundle_find(b, BUNDLE_GRAPH);
    const char *version = bundle_text(b, BUNDLE_VERSION);
    if (!member) return true;
    struct proto_graph *g = proto_graph_decode(member->bytes, member->size, e);
    if (!g) return error_about(e, "%s", path) == 0;
    printf("saved executable, version %.*s: %u nodes, %u modules\n", version ? (int)strcspn(version, "\n") : 0,
           version ? version : "", g->n_nodes, g->n_modules);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        static const char *const kinds[PROTO_NODE_COUNT] = {"kernel", "copy", "fill", "host task"};
        const struct proto_node *n = &g->nodes[i];
        printf("  %s: %s", n->name, kinds[n->kind]);
        if (n->kind == PROTO_NODE_KERNEL) printf(" %s of module %u", n->kernel, n->module);
        for (uint32_t d = 0; d < n->dims; d++) printf("%s%" PRIu64, d ? " x " : " over ", n->global[d]);
        puts("");
    }
    for (uint32_t i = 0; i < g->n_slots; i++)
        printf("  %s: %s of %" PRIu64 " bytes\n", g->slots[i].name,
               g->slots[i].image.width ? "image"
               : g->slots[i].usm       ? "allocation"
                                       : "buffer",
               g->slots[i].bytes);
    proto_graph_free(g);
    return true;
}

/* Names of members are no paths: one that has others in it is not a file of the folder. */
static bool extract(const struct bundle *b, const char *folder)
{
    char path[4096];
    for (size_t i = 0; i < b->n_members; i++) {
        const struct bundle_member *m = &b->members[i];
        int n = snprintf(path, sizeof path, "%s/%s", folder, m->name);
        if (strchr(m->name, '/') || m->name[0] == '.' || n >= (int)sizeof path) {
            fprintf(stderr, "bundle: `%s` is no name of a file\n", m->name);
            return false;
        }
        if (!file_write(path, m->bytes, m->size)) return false;
    }
    return true;
}

int bundle_command(int argc, char **argv)
{
    static struct error e;
    const char *path = NULL, *folder = NULL;
    size_t size;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--extract") == 0 && i + 1 < argc)
            folder = argv[++i];
        else if (argv[i][0] != '-' && !path)
            path = argv[i];
        else
            path = folder = NULL, i = argc;
    }
    if (!path) {
        fputs("usage: fusion-inspect bundle [--extract FOLDER] BUNDLE\n", stderr);
        return 2;
    }
    uint8_t *bytes = read_file(path, &size);
    struct bundle b;
    if (!bytes) return 1;
    bundle_init(&b);
    bool good = bundle_read(&b, bytes, size, path, &e) == 0 && print_images(&b, &e) && print_executable(&b, path, &e);
    if (!good) fprintf(stderr, "bundle: %s: %s\n", e.object, e.reason);
    if (good && folder) good = extract(&b, folder);
    bundle_clear(&b);
    free(bytes);
    return good ? 0 : 1;
}
