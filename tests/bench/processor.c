/* Executors are the children of the daemon with that name; each has a clock of its own. */
#include "tests/bench/processor.h"

#include <dirent.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/work.h"

enum { MOST_EXECUTORS = 8 };

static bool used;
static clockid_t executors[MOST_EXECUTORS];
static unsigned n_executors;

void processor_use(char **argv)
{
    used = true;
    if (getenv("OMP_WAIT_POLICY")) return;
    setenv("OMP_WAIT_POLICY", "passive", 1); /* read when the library is loaded */
    execv("/proc/self/exe", argv);
}

bool processor_used(void)
{
    return used;
}

static int daemon_of(fusion_session *s)
{
    char *text;
    json_object *pid;
    bench_check(fusion_session_status(s, &text));
    json_object *status = json_tokener_parse(text);
    int found = json_object_object_get_ex(status, "pid", &pid) ? json_object_get_int(pid) : 0;
    json_object_put(status);
    free(text);
    return found;
}

static bool is_executor(const char *process, int daemon)
{
    char path[300], line[256] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", process);
    FILE *f = fopen(path, "r");
    if (!f) return false;
    if (!fgets(line, sizeof line, f)) line[0] = 0;
    fclose(f);
    const char *end = strrchr(line, ')');
    return end && sscanf(end, ") %*c %d", &parent) == 1 && parent == daemon && strstr(line, "(fusiond-exec");
}

void processor_watch(fusion_session *s)
{
    int daemon = daemon_of(s);
    DIR *all = opendir("/proc");
    struct dirent *entry;
    n_executors = 0;
    while (all && (entry = readdir(all)) && n_executors < MOST_EXECUTORS)
        if (is_executor(entry->d_name, daemon) &&
            clock_getcpuclockid(atoi(entry->d_name), &executors[n_executors]) == 0)
            n_executors++;
    if (all) closedir(all);
}

static double clock_ms(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The clock of another process is late by as much as its threads have run since the scheduler last looked at them: up
   to some milliseconds, until they sleep, as executors do a moment after their last launch. */
static void let_executors_sleep(void)
{
    const struct timespec moment = {.tv_nsec = 500000};
    nanosleep(&moment, NULL);
}

double processor_ms(void)
{
    if (n_executors) let_executors_sleep();
    double ms = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned i = 0; i < n_executors; i++) ms += clock_ms(executors[i]);
    return ms;
}
