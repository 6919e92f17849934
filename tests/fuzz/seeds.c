/* Writes what the fuzzers of the IR start from besides their corpora: random modules in both forms, and
   a dictionary of the language's words. Usage: fuzz_seeds FOLDER */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ir/msgpack/codec.h"
#include "ir/text/print/print.h"
#include "tests/support/random_module.h"

enum { SEEDS = 40 };

static FILE *create(const char *folder, const char *inner, unsigned number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, inner);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/random-%u", folder, inner, number);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void write_module(const char *folder, unsigned seed)
{
    struct ir_module *m = random_module(seed, &(struct random_module_options){.functions = 2, .instructions = 12});
    size_t size;
    uint8_t *bytes = ir_encode(m, &size);
    char *text = ir_print(m);
    FILE *as_bytes = create(folder, "fuzz_ir_codec", seed), *as_text = create(folder, "fuzz_ir_text", seed);
    fwrite(bytes, 1, size, as_bytes);
    fputs(text, as_text);
    fclose(as_bytes);
    fclose(as_text);
    free(bytes);
    free(text);
    ir_module_free(m);
}

static void write_dictionary(const char *folder)
{
    static const char *const words[] = {
        "module", "source",  "struct",          "kernel",     "func",        "export",
        "import", "packet",  "capacity",        "ptr.global", "ptr.private", "f32x4",
        "i64",    "bool",    "by_value",        "align",      "volatile",    "undef",
        "null",   "true",    "work_group_size", "aspects",    "else",        "with",
        "uses",   "targets", "host_access",     "uses_valid", "protocol",    "avalon_mm",
    };
    char path[4096];
    snprintf(path, sizeof path, "%s/ir.dict", folder);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) fprintf(file, "\"%s\"\n", words[i]);
    for (unsigned op = 0; op < IR_OP_COUNT; op++) fprintf(file, "\"%s\"\n", ir_op_info(op)->text);
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    for (unsigned seed = 0; seed < SEEDS; seed++) write_module(argv[1], seed);
    write_dictionary(argv[1]);
    return 0;
}
