/* File tables: a line `[Code|Properties|...]` with the names of columns, then a line of files for each row. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ir/base/error.h"

enum { FILE_TABLE_COLUMNS = 16 };

struct file_table_row {
    const char *cells[FILE_TABLE_COLUMNS];
};

struct file_table {
    struct arena *arena;
    uint32_t n_columns;
    const char *columns[FILE_TABLE_COLUMNS];
    size_t n_rows;
    struct file_table_row *rows;
};

void file_table_init(struct file_table *t);
void file_table_clear(struct file_table *t);
void file_table_add_column(struct file_table *t, const char *name);
/* A row with a copy of each of n_columns cells. */
void file_table_add_row(struct file_table *t, const char *const *cells);
int file_table_column(const struct file_table *t, const char *name); /* -1: none */
/* 0, or -1 with the error. Fills a table that was initialized. */
int file_table_read(struct file_table *t, const char *text, const char *name, struct error *e);
char *file_table_write(const struct file_table *t); /* to be freed by the caller */
