#include "tests/level_zero/machine/translate.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* All of a file of memory; to be freed. One more byte is there, and is 0. */
static uint8_t *contents(int file, size_t *size)
{
    struct stat s;
    if (fstat(file, &s) != 0) return NULL;
    *size = (size_t)s.st_size;
    uint8_t *bytes = calloc(1, *size + 1);
    if (bytes && pread(file, bytes, *size, 0) == (ssize_t)*size) return bytes;
    free(bytes);
    return NULL;
}

/* The translator, with its input, output and messages in files. False: it failed. */
static bool run_translator(int in, int out, int messages)
{
    char *arguments[] = {(char *)TRANSLATOR, (char *)"-r", (char *)"/dev/stdin", (char *)"-o", (char *)"-", NULL};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, messages, STDERR_FILENO);
    pid_t child;
    int code = posix_spawn(&child, TRANSLATOR, &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    int status = 0;
    return code == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

uint8_t *translate_to_bitcode(const uint8_t *spirv, size_t size, size_t *bitcode_size, char **log)
{
    int in = memfd_create("spirv", MFD_CLOEXEC), out = memfd_create("bitcode", MFD_CLOEXEC);
    int messages = memfd_create("messages", MFD_CLOEXEC);
    uint8_t *bitcode = NULL;
    if (in >= 0 && out >= 0 && messages >= 0 && pwrite(in, spirv, size, 0) == (ssize_t)size) {
        if (run_translator(in, out, messages)) bitcode = contents(out, bitcode_size);
        size_t length;
        if (!bitcode) *log = (char *)contents(messages, &length);
    }
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    if (messages >= 0) close(messages);
    return bitcode;
}
