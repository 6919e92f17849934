/* Compiling ahead of time. */
#include "tools/features/ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/ahead/compile.h"
#include "tools/features/modules.h"
#include "tools/features/units.h"

enum { MAX_TARGETS = 64, MAX_SIZES = AHEAD_MAX_LAUNCHES - 1 };

struct order {
    enum split_mode mode;
    char *fixed;
    const char *config, *out;
    uint32_t n_targets, n_sizes, n_in;
    const char *targets[MAX_TARGETS];
    struct ahead_local_size sizes[MAX_SIZES];
    char **in;
};

static const char usage[] =
    "usage: fusion-inspect compile --targets=TARGET,... [--fixed-targets=TARGET,...] [--local-size=X[,Y[,Z]] ...]\n"
    "                              [--split=off|per_kernel|per_source|auto] [--device-config-file=FILE]\n"
    "                              MODULE ... -o BUNDLE\n";

/* ---- the order ---- */

/* What is behind "--name="; NULL: it is another option. */
static char *value_of(char *arg, const char *name)
{
    size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 && arg[n] == '=' ? arg + n + 1 : NULL;
}

static bool read_targets(struct order *o, char *names)
{
    for (char *name; (name = strsep(&names, ","));) {
        if (!*name) continue;
        if (o->n_targets == MAX_TARGETS) return false;
        o->targets[o->n_targets++] = name;
    }
    return o->n_targets;
}

static bool read_size(struct order *o, char *numbers)
{
    struct ahead_local_size size = {{1, 1, 1}};
    unsigned dims = 0;
    for (char *number, *end; (number = strsep(&numbers, ",")); dims++) {
        if (dims == 3) return false;
        size.size[dims] = strtoul(number, &end, 10);
        if (*end || !size.size[dims] || size.size[dims] > 1 << 20) return false;
    }
    if (o->n_sizes == MAX_SIZES) return false;
    o->sizes[o->n_sizes++] = size;
    return true;
}

static bool read_option(struct order *o, char *arg)
{
    char *value;
    if ((value = value_of(arg, "--targets"))) return read_targets(o, value);
    if ((value = value_of(arg, "--local-size"))) return read_size(o, value);
    if ((value = value_of(arg, "--split"))) return split_mode_parse(value, &o->mode);
    if ((value = value_of(arg, "--fixed-targets"))) return (o->fixed = value);
    if ((value = value_of(arg, "--device-config-file"))) return (o->config = value);
    return false;
}

static bool read_order(struct order *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            o->out = argv[++i];
        else if (argv[i][0] != '-')
            o->in[o->n_in++] = argv[i];
        else if (!read_option(o, argv[i]))
            return false;
    }
    return o->n_in && o->out;
}

bool ahead_is_asked(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (value_of(argv[i], "--targets") || value_of(argv[i], "--fixed-targets")) return true;
    return false;
}

/* ---- the bundle ---- */

static bool save(const struct order *o, const struct bundle *b)
{
    size_t size;
    uint8_t *bytes = bundle_write(b, &size);
    bool good = file_write(o->out, bytes, size);
    free(bytes);
    return good;
}

static bool make(const struct order *o, const struct device_config *config, struct error *e)
{
    struct units units;
    struct bundle bundle;
    bundle_init(&bundle);
    bool good = units_read(&units, o->n_in, o->in, o->fixed, config, e);
    const struct ahead_request request = {.n_units = units.n,
                                          .units = (const struct ir_module *const *)units.modules,
                                          .mode = o->mode,
                                          .config = config,
                                          .n_targets = o->n_targets,
                                          .targets = o->targets,
                                          .n_sizes = o->n_sizes,
                                          .sizes = o->sizes,
                                          .warn = units_warn};
    if (good) good = ahead_compile(&request, &bundle, e) && save(o, &bundle);
    units_clear(&units);
    bundle_clear(&bundle);
    return good;
}

void ahead_usage(FILE *out)
{
    fputs(usage, out);
}

int ahead_command(int argc, char **argv)
{
    static struct error e;
    struct device_config config = {0};
    struct order o = {.mode = SPLIT_AUTO, .in = calloc((size_t)argc + 1, sizeof *o.in)};
    int status = 2;
    if (o.in && read_order(&o, argc, argv)) {
        error_clear(&e);
        bool good = device_config_open(&config, o.config, &e) == 0 && make(&o, &config, &e);
        if (!good && e.code) fprintf(stderr, "compile: %s: %s\n", e.object, e.reason);
        status = good ? 0 : 1;
    } else {
        ahead_usage(stderr);
    }
    device_config_clear(&config);
    free(o.in);
    return status;
}
