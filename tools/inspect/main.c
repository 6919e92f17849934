/* fusion-inspect: shows and explains what the service does. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/nearest.h"
#include "tools/inspect/commands.h"
#include "tools/inspect/terminal/complain.h"

static const struct {
    const char *name;
    int (*run)(const struct context *, int, char **);
    const char *help;
} commands[] = {
    {"devices", command_devices, "devices [--json]         what code can be made for"},
    {"status", command_status, "status [--json]          the daemon's counters and clients; 3 where none is running"},
    {"metrics", command_metrics,
     "metrics                  the daemon's counters as OpenMetrics text; 3 where none is running"},
    {"top", command_top,
     "top                      what the service does now: sessions, rates (--interval S, --count N)"},
    {"module", command_module, "module [--ir] FILE ...   kernels of a module, or of several linked: arguments, needs"},
    {"pipes", command_pipes, "pipes FILE ...           pipes of a module, and headers for programs (--integration)"},
    {"run", command_run, "run GRAPH.yaml|SAVED     runs a graph file, or a saved executable (--help for options)"},
    {"passes", command_passes, "passes FILE              a module behind clean-up passes (--help for their names)"},
    {"compile", command_compile,
     "compile GRAPH.yaml       kernels as SPIR-V into files; modules into a bundle (--help)"},
    {"bundle", command_bundle, "bundle FILE              what is in a bundle (--help)"},
    {"tune", command_tune, "tune GRAPH.yaml          measures other plans of a graph, and keeps the best (--help)"},
    {"explain", command_explain, "explain GRAPH.yaml       order, groups, remarks, fused code, picture (--help)"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static int usage(FILE *out)
{
    fputs("usage: fusion-inspect [--socket PATH | --private] COMMAND ...\n", out);
    for (int i = 0; i < N_COMMANDS; i++) fprintf(out, "  %s\n", commands[i].help);
    return out == stdout ? 0 : 2;
}

static int unknown_option(const char *word, const struct option *longs)
{
    char hint[120];
    const char *bare = word + strspn(word, "-");
    struct nearest s = nearest_begin(bare, strcspn(bare, "="));
    for (; longs->name; longs++) nearest_offer(&s, longs->name);
    complain("fusion-inspect", "invalid", "there is no option `%s`%s, or it lacks its value; --help lists them", word,
             nearest_hint(s.best, hint, sizeof hint));
    return 2;
}

static int unknown_command(const char *word)
{
    char hint[120];
    struct nearest s = nearest_begin(word, strlen(word));
    for (int i = 0; i < N_COMMANDS; i++) nearest_offer(&s, commands[i].name);
    complain("fusion-inspect", "invalid", "there is no command `%s`%s; --help lists them", word,
             nearest_hint(s.best, hint, sizeof hint));
    return 2;
}

/* Wherever it stands: what is wrong before it is told so, too. */
static void look_for_json(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0) complain_as_json();
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {{"socket", required_argument, NULL, 's'},
                                          {"private", no_argument, NULL, 'p'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'v'},
                                          {0}};
    struct context c = {0};
    int o;
    opterr = 0;
    look_for_json(argc, argv);
    while ((o = getopt_long(argc, argv, "+hv", longs, NULL)) != -1) {
        switch (o) {
        case 's': c.socket = optarg; break;
        case 'p': c.private_daemon = true; break;
        case 'h': return usage(stdout);
        case 'v': puts("fusion-inspect " FUSIOND_VERSION); return 0;
        default: return unknown_option(argv[optind - 1], longs);
        }
    }
    for (int i = 0; i < N_COMMANDS && optind < argc; i++) {
        if (strcmp(commands[i].name, argv[optind])) continue;
        int first = optind;
        optind = 0; /* getopt starts anew with the command's own arguments */
        return commands[i].run(&c, argc - first, argv + first);
    }
    if (optind < argc) return unknown_command(argv[optind]);
    return usage(stderr);
}
