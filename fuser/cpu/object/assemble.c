/*
 * From a libgccjit context to the bytes of a shared object. The library stops at assembler text; as and ld
 * are run directly, which takes half the time of the compiler driver and reports a missing tool instead of
 * ending the process.
 */
#include "fuser/cpu/object/assemble.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum file { ASSEMBLY, OBJECT, LIBRARY, MESSAGES, FILE_COUNT };

/* A directory of our own, and the files in it. */
struct workplace {
    char directory[512];
    char path[FILE_COUNT][528];
};

static void fail(struct diag_list *list, const char *function, const char *what, const char *why)
{
    diag_add(list, function, NULL, 0, 0, "%s: %s", what, why);
}

static bool workplace_make(struct workplace *w, const char *function, struct diag_list *list)
{
    static const char *const names[FILE_COUNT] = {"k.s", "k.o", "k.so", "messages"};
    const char *base = getenv("TMPDIR");
    if (!base || !*base || strlen(base) > 480) base = "/tmp";
    snprintf(w->directory, sizeof w->directory, "%s/fusion-XXXXXX", base);
    if (!mkdtemp(w->directory)) {
        fail(list, function, w->directory, strerror(errno));
        return false;
    }
    for (int i = 0; i < FILE_COUNT; i++) snprintf(w->path[i], sizeof w->path[i], "%s/%s", w->directory, names[i]);
    return true;
}

static void workplace_remove(struct workplace *w)
{
    for (int i = 0; i < FILE_COUNT; i++) unlink(w->path[i]);
    rmdir(w->directory);
}

/* A whole file, with a 0 byte after it; NULL with errno. */
static uint8_t *read_file(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    struct stat st;
    uint8_t *bytes = NULL;
    size_t got = 0;
    if (fstat(fd, &st) < 0) goto out;
    bytes = malloc((size_t)st.st_size + 1);
    if (!bytes) goto out;
    while (got < (size_t)st.st_size) {
        ssize_t n = read(fd, bytes + got, (size_t)st.st_size - got);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        got += (size_t)n;
    }
    bytes[got] = 0;
    *size = got;
out:
    close(fd);
    return bytes;
}

static void report_tool(const struct workplace *w, const char *tool, int status, const char *function,
                        struct diag_list *list)
{
    size_t size = 0;
    char *words = (char *)read_file(w->path[MESSAGES], &size);
    if (words && size) {
        while (size && words[size - 1] == '\n') words[--size] = 0;
        fail(list, function, tool, words);
    } else {
        char text[64];
        snprintf(text, sizeof text, WIFSIGNALED(status) ? "ended by signal %d" : "exit status %d",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        fail(list, function, tool, text);
    }
    free(words);
}

static bool run_tool(struct workplace *w, char *const argv[], const char *function, struct diag_list *list)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, w->path[MESSAGES], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t pid;
    int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        fail(list, function, argv[0], strerror(error));
        return false;
    }
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno == EINTR) continue;
        fail(list, function, argv[0], strerror(errno));
        return false;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    report_tool(w, argv[0], status, function, list);
    return false;
}

static bool compile(gcc_jit_context *gcc, const struct workplace *w, const char *function, struct diag_list *list)
{
    gcc_jit_context_compile_to_file(gcc, GCC_JIT_OUTPUT_KIND_ASSEMBLER, w->path[ASSEMBLY]);
    const char *error = gcc_jit_context_get_first_error(gcc);
    if (error) fail(list, function, "libgccjit", error);
    return !error;
}

/* Whether an object file names a function that is not in it. (The assembler is trusted to write it well.) */
static bool calls_libraries(const uint8_t *object)
{
    const Elf64_Ehdr *header = (const void *)object;
    const Elf64_Shdr *sections = (const void *)(object + header->e_shoff);
    for (unsigned s = 0; s < header->e_shnum; s++) {
        if (sections[s].sh_type != SHT_SYMTAB) continue;
        const Elf64_Sym *symbols = (const void *)(object + sections[s].sh_offset);
        for (uint64_t i = sections[s].sh_info; i < sections[s].sh_size / sizeof *symbols; i++)
            if (symbols[i].st_shndx == SHN_UNDEF) return true;
    }
    return false;
}

/* libm and SLEEF by name, so that whoever loads the object need not have them; and only where they are called, for the
   linker takes longer to open them than for all the rest. The table of symbols is the one that says how many there are
   (check_object.c), whatever this linker would make by itself. */
static bool link_object(struct workplace *w, const char *function, struct diag_list *list)
{
    char *ld[] = {"ld",
                  "-shared",
                  "-z",
                  "noexecstack",
                  "-z",
                  "now",
                  "--hash-style=sysv",
                  "--as-needed",
                  "-o",
                  w->path[LIBRARY],
                  w->path[OBJECT],
                  "-l:libm.so.6",
                  "-l:libsleef.so.3",
                  NULL};
    enum { LIBRARIES = 11 };
    size_t size;
    uint8_t *object = read_file(w->path[OBJECT], &size);
    if (object && size > sizeof(Elf64_Ehdr) && !calls_libraries(object)) ld[LIBRARIES] = NULL;
    free(object);
    return run_tool(w, ld, function, list);
}

int assemble_object(gcc_jit_context *gcc, const char *function, const char *option, bool keep_assembly,
                    struct object_file *object, struct diag_list *list)
{
    struct workplace w;
    if (!workplace_make(&w, function, list)) return -1;
    int result = -1;
    char *as[] = {"as", "--64", "-o", w.path[OBJECT], w.path[ASSEMBLY], (char *)option, NULL};
#ifndef __x86_64__
    as[1] = "-g0";
#endif
    size_t size;
    if (!compile(gcc, &w, function, list)) goto out;
    if (keep_assembly) object->assembly = (char *)read_file(w.path[ASSEMBLY], &size);
    if (!run_tool(&w, as, function, list) || !link_object(&w, function, list)) goto out;
    object->elf = read_file(w.path[LIBRARY], &object->elf_size);
    if (object->elf)
        result = 0;
    else
        fail(list, function, w.path[LIBRARY], strerror(errno));
out:
    workplace_remove(&w);
    return result;
}
