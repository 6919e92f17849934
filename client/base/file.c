/* Whole files. */
#include "client/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/base/error.h"
#include "proto/limits.h"

static fusion_status read_open(FILE *f, const char *path, char **bytes, size_t *size)
{
    struct stat st;
    if (fstat(fileno(f), &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > PROTO_MAX_MESSAGE)
        return client_error(FUSION_IO, path, "not a regular file of at most %d bytes", PROTO_MAX_MESSAGE);
    *bytes = malloc((size_t)st.st_size + 1);
    if (!*bytes) return client_no_memory(path);
    *size = fread(*bytes, 1, (size_t)st.st_size, f);
    if (*size == (size_t)st.st_size) return FUSION_SUCCESS;
    free(*bytes);
    return client_error(FUSION_IO, path, "could not be read whole (%zu of %lld bytes)", *size, (long long)st.st_size);
}

fusion_status client_file_read(const char *path, char **bytes, size_t *size)
{
    FILE *f = fopen(path, "rbe");
    if (!f) return client_errno(errno == ENOMEM ? FUSION_OUT_OF_MEMORY : FUSION_IO, path, "opening");
    fusion_status status = read_open(f, path, bytes, size);
    fclose(f);
    return status;
}

/* 0, or -1 with errno. */
static int write_new(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return -1;
    const char *at = bytes, *end = at + size;
    while (at < end) {
        ssize_t n = write(fd, at, (size_t)(end - at));
        if (n < 0 && errno != EINTR) break;
        if (n > 0) at += n;
    }
    int wrong = at < end ? errno : 0;
    if (close(fd) < 0 && !wrong) wrong = errno;
    if (wrong) unlink(path);
    errno = wrong;
    return wrong ? -1 : 0;
}

fusion_status client_file_write(const char *path, const void *bytes, size_t size)
{
    char *beside;
    if (asprintf(&beside, "%s.%d.new", path, (int)gettid()) < 0) return client_no_memory(path);
    fusion_status status = FUSION_SUCCESS;
    if (write_new(beside, bytes, size) != 0) {
        status = client_errno(FUSION_IO, path, "writing");
    } else if (rename(beside, path) != 0) {
        status = client_errno(FUSION_IO, path, "writing");
        unlink(beside);
    }
    free(beside);
    return status;
}
