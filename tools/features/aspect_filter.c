/* fusion-aspect-filter: the rows of a file table whose code a target can use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/features/device_config.h"
#include "fuser/features/filter.h"
#include "tools/features/modules.h"
#include "tools/features/usage.h"

struct request {
    const char *target, *config, *in, *out;
};

static const char *value_of(const char *arg, const char *option)
{
    size_t n = strlen(option);
    while (arg[0] == '-' && arg[1] == '-') arg++; /* one dash or two */
    return strncmp(arg, option, n) == 0 && arg[n] == '=' ? arg + n + 1 : NULL;
}

static bool read_request(struct request *r, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *target = value_of(argv[i], "-target"), *config = value_of(argv[i], "-device-config-file");
        if (target)
            r->target = target;
        else if (config)
            r->config = config;
        else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            r->out = argv[++i];
        else if (argv[i][0] != '-' && !r->in)
            r->in = argv[i];
        else
            return false;
    }
    return r->target && r->in && r->out;
}

static bool run(const struct request *r, struct file_table *from, struct file_table *to, struct error *e)
{
    struct device_config config = {0};
    char *text = filter_read_file(r->in, e);
    bool good = text && file_table_read(from, text, r->in, e) == 0;
    /* A table without properties is copied, whatever the target. */
    if (good && file_table_column(from, "Properties") >= 0) {
        const struct ir_target *t = NULL;
        good = device_config_open(&config, r->config, e) == 0;
        if (good && !(t = device_config_find(&config, r->target)))
            good =
                error_set(e, 1, r->config ? r->config : "the default devices", "there is no device %s", r->target) == 0;
        if (good) good = filter_table(from, t, to, e) == 0;
    } else if (good) {
        good = filter_table(from, &(struct ir_target){0}, to, e) == 0;
    }
    free(text);
    device_config_clear(&config);
    return good;
}

static const char usage[] = "usage: fusion-aspect-filter -target=TARGET [-device-config-file=FILE] TABLE -o TABLE\n";

int main(int argc, char **argv)
{
    if (usage_is_asked("fusion-aspect-filter", usage, argc, argv)) return 0;
    struct request r = {0};
    struct file_table from, to;
    static struct error e;
    if (!read_request(&r, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    file_table_init(&from);
    file_table_init(&to);
    bool good = run(&r, &from, &to, &e);
    if (!good) fprintf(stderr, "fusion-aspect-filter: %s: %s\n", e.object, e.reason);
    char *text = good ? file_table_write(&to) : NULL;
    if (good) good = file_write(r.out, text, strlen(text));
    free(text);
    file_table_clear(&from);
    file_table_clear(&to);
    return good ? 0 : 1;
}
