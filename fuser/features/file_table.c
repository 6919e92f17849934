/* Tables of files, read and written. */
#include "fuser/features/file_table.h"

#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"

void file_table_init(struct file_table *t)
{
    *t = (struct file_table){.arena = arena_new()};
}

void file_table_clear(struct file_table *t)
{
    if (t->arena) arena_free(t->arena);
    *t = (struct file_table){0};
}

void file_table_add_column(struct file_table *t, const char *name)
{
    t->columns[t->n_columns++] = arena_strndup(t->arena, name, strlen(name));
}

static struct file_table_row *new_row(struct file_table *t)
{
    t->rows = arena_grow(t->arena, t->rows, t->n_rows, sizeof *t->rows);
    t->rows[t->n_rows] = (struct file_table_row){{NULL}};
    return &t->rows[t->n_rows++];
}

void file_table_add_row(struct file_table *t, const char *const *cells)
{
    struct file_table_row *row = new_row(t);
    for (uint32_t i = 0; i < t->n_columns; i++) row->cells[i] = arena_strndup(t->arena, cells[i], strlen(cells[i]));
}

int file_table_column(const struct file_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i], name) == 0) return (int)i;
    return -1;
}

/* The cells of a line; how many there are, FILE_TABLE_COLUMNS + 1 where there are more. */
static uint32_t split(struct file_table *t, const char *line, size_t n, const char **cells)
{
    uint32_t n_cells = 0;
    for (const char *end = line + n;; line++) {
        const char *bar = memchr(line, '|', (size_t)(end - line));
        size_t length = (size_t)((bar ? bar : end) - line);
        if (n_cells == FILE_TABLE_COLUMNS) return FILE_TABLE_COLUMNS + 1;
        cells[n_cells++] = arena_strndup(t->arena, line, length);
        if (!bar) return n_cells;
        line = bar;
    }
}

int file_table_read(struct file_table *t, const char *text, const char *name, struct error *e)
{
    size_t n = strcspn(text, "\n");
    if (n < 2 || text[0] != '[' || text[n - 1] != ']')
        return error_set(e, 1, name, "line 1: a table begins with its columns, [Code|...]");
    t->n_columns = split(t, text + 1, n - 2, t->columns);
    if (t->n_columns > FILE_TABLE_COLUMNS)
        return error_set(e, 1, name, "line 1: there are more than %d columns", FILE_TABLE_COLUMNS);
    for (unsigned line = 2; text[n]; line++) {
        text += n + 1;
        n = strcspn(text, "\n");
        if (!n) continue;
        struct file_table_row *row = new_row(t);
        uint32_t cells = split(t, text, n, row->cells);
        if (cells != t->n_columns)
            return error_set(e, 1, name, "line %u: a row has not one cell for each of the %u columns", line,
                             t->n_columns);
    }
    return 0;
}

static void write_line(struct strbuf *out, const char *const *cells, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) strbuf_printf(out, "%s%s", i ? "|" : "", cells[i]);
}

char *file_table_write(const struct file_table *t)
{
    struct strbuf out = {0};
    strbuf_add(&out, "[");
    write_line(&out, t->columns, t->n_columns);
    strbuf_add(&out, "]\n");
    for (size_t i = 0; i < t->n_rows; i++) {
        write_line(&out, t->rows[i].cells, t->n_columns);
        strbuf_add(&out, "\n");
    }
    return strbuf_take(&out);
}
