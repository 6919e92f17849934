/* The journal of systemd. */
#include "daemon/broker/core/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "daemon/broker/core/log_text.h"

enum { VALUE = 512, ENTRY = LOG_LINE + 2 * VALUE + 512 };

static const char usual_socket[] = "/run/systemd/journal/socket";
static int journal = -1;

/* "device:inode" of what standard error was when the manager started us; it may be something else by now. */
static bool is_stream(void)
{
    const char *text = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat s;
    return text && sscanf(text, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &s) == 0 &&
           s.st_dev == (dev_t)device && s.st_ino == (ino_t)inode;
}

static int dial(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    close(fd);
    return -1;
}

enum journal_way journal_open(void)
{
    const char *path = getenv("FUSIOND_JOURNAL");
    if (!is_stream()) return JOURNAL_NONE;
    journal = dial(path ? path : usual_socket);
    return journal < 0 ? JOURNAL_PREFIXES : JOURNAL_ENTRIES;
}

struct entry {
    char bytes[ENTRY];
    size_t size;
};

/* What fits; names are ours. An escaped text has no end of line, which would begin another field. */
static void add(struct entry *e, const char *name, const char *value)
{
    size_t room = sizeof e->bytes - e->size;
    int n = snprintf(e->bytes + e->size, room, "%s=%s\n", name, value);
    if (n > 0 && (size_t)n < room) e->size += (size_t)n;
}

static void add_number(struct entry *e, const char *name, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    add(e, name, text);
}

static void add_text(struct entry *e, const char *name, const char *text)
{
    char escaped[VALUE];
    if (!text || !*text) return;
    log_escape(escaped, sizeof escaped, text);
    add(e, name, escaped);
}

static void add_about(struct entry *e, const struct log_subject *about)
{
    if (about->user) add_number(e, "FUSIOND_UID", about->uid);
    if (about->process) add_number(e, "FUSIOND_PID", (uint64_t)about->process);
    if (about->session) add_number(e, "FUSIOND_SESSION", about->session);
    add_text(e, "FUSIOND_CLIENT", about->client);
    add_text(e, "FUSIOND_KERNEL", about->kernel);
}

enum journal_sent journal_send(int priority, const char *line, const struct log_subject *about)
{
    struct entry e = {.size = 0};
    char message[LOG_LINE];
    log_escape(message, sizeof message, line);
    add(&e, "MESSAGE", message);
    add_number(&e, "PRIORITY", (uint64_t)priority);
    add_number(&e, "SYSLOG_FACILITY", LOG_FAC(LOG_DAEMON));
    add(&e, "SYSLOG_IDENTIFIER", "fusiond");
    if (about) add_about(&e, about);
    if (send(journal, e.bytes, e.size, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return JOURNAL_SENT;
    return errno == EAGAIN || errno == ENOBUFS ? JOURNAL_FULL : JOURNAL_GONE;
}
