/*
 * The journal of systemd, where standard error leads there: each line of the log is one entry with fields, as one
 * datagram (systemd's "Native Journal Protocol").
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whom and what a line is about. All zero: nobody. */
struct log_subject {
    bool user; /* the next one counts */
    uid_t uid;
    pid_t process;      /* the client's; 0: none */
    uint64_t session;   /* likewise */
    const char *client; /* as it calls itself; NULL, "": none */
    const char *kernel; /* likewise */
};

enum journal_way {
    JOURNAL_NONE,     /* standard error leads elsewhere */
    JOURNAL_PREFIXES, /* there, but its socket cannot be reached: lines begin with their priority, as sd-daemon(3) has
                         it */
    JOURNAL_ENTRIES
};

/* $JOURNAL_STREAM says whether standard error leads there. */
enum journal_way journal_open(void);
enum journal_sent { JOURNAL_SENT, JOURNAL_FULL, JOURNAL_GONE };
/* Never waits. line, and what about has, may hold any bytes but are one line each in the entry. */
enum journal_sent journal_send(int priority, const char *line, const struct log_subject *about);
