#include "tools/inspect/run/options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/nearest.h"
#include "tools/features/ahead.h"
#include "tools/inspect/terminal/complain.h"

enum { SEVERAL_RUNS = 10 };

void options_usage(const char *command)
{
    fputs("usage: fusion-inspect ", stdout);
    fputs(command, stdout);
    fputs(strcmp(command, "run") == 0 ? " GRAPH.yaml|SAVED [options]\n" : " GRAPH.yaml [options]\n", stdout);
    puts("  --fusion none|enable|require   default enable\n"
         "  --barriers                     insert_barriers\n"
         "  --barriers=automatic|none|needed\n"
         "                                 which others between kernels; default automatic\n"
         "  --device NAME                  default cpu; reference runs the checking interpreter\n"
         "  --tier automatic|quick|compiled\n"
         "                                 quick: interpreted until there is code; default automatic, but\n"
         "                                 compiled where it explains or measures\n"
         "  --bounds                       check the accesses that are not proved to be inside of their buffer\n"
         "  --debug                        run in the interpreter, and check what the properties assert\n"
         "  --time-limit MS                of each submission; default the service's\n"
         "  --json                         one JSON object");
    if (strcmp(command, "tune") == 0) {
        puts("  --in BUFFER=FILE               as of run");
        return;
    }
    puts("  --tuning TEXT                  what is planned otherwise, as tune prints it; '': nothing;\n"
         "                                 default what tune kept for the graph");
    if (strcmp(command, "run") == 0)
        puts("  --in BUFFER=FILE               read a buffer from .npy or raw bytes, an image from a\n"
             "                                 picture (.png, .jpg), too; others start as 0 or as the file "
             "says\n"
             "  --out BUFFER=FILE              write a buffer as .npy or raw bytes, an image as .png, too\n"
             "  --repeat N                     submit N times; run_ms is the median; default 1,\n"
             "                                 with the following 10, but 1 in the interpreter\n"
             "  --rounds N                     run the graph N times in each submission; default 1\n"
             "  --profile                      time, traffic and share of the bandwidth of each launch\n"
             "  --compare                      unfused, too, in turn\n"
             "  --trace FILE                   a time line for Perfetto or about:tracing\n"
             "  --save FILE                    the executable, for another run: SAVED takes the place of\n"
             "                                 the graph file there, and runs without being compiled");
    else if (strcmp(command, "compile") == 0) {
        puts("  --spirv FILE|FOLDER            write the kernels of its launches as SPIR-V; GRAPH.yaml may\n"
             "                                 be a module, too, which needs no service\n"
             "  --dialect kernel|vulkan        for OpenCL and Level Zero (the default), or for Vulkan\n"
             "  --save FILE                    the executable of GRAPH.yaml, for run");
        ahead_usage(stdout);
    } else
        puts("  --ir                           the kernel of each launch, too\n"
             "  --assembly                     the generated assembly, too\n"
             "  --dot FILE, --svg FILE         the picture of the graph with its groups");
}

/* What an option takes instead. Always false. */
static bool refuse(const char *option, const char *text, const char *const *names, size_t n)
{
    char hint[120], list[200] = "";
    for (size_t i = 0, at = 0; i < n && at < sizeof list; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", names[i]);
    complain(option, "invalid", "it takes %s, not `%s`%s", list, text,
             nearest_hint(nearest_word(text, strlen(text), names, n), hint, sizeof hint));
    return false;
}

/* At least 1. */
static bool parse_number(const char *option, const char *text, uint32_t *out)
{
    char *end = NULL;
    unsigned long long n = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    if (end && !*end && n && n <= UINT32_MAX) {
        *out = (uint32_t)n;
        return true;
    }
    complain(option, "invalid", "it takes a number from 1 on, not `%s`", text);
    return false;
}

static bool parse_mode(const char *text, fusion_mode *mode)
{
    static const char *const names[] = {"none", "enable", "require"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text)) continue;
        *mode = (fusion_mode)i;
        return true;
    }
    return refuse("--fusion", text, names, 3);
}

static bool parse_tier(const char *text, fusion_tier *tier)
{
    static const char *const names[] = {"automatic", "quick", "compiled"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text)) continue;
        *tier = (fusion_tier)i;
        return true;
    }
    return refuse("--tier", text, names, 3);
}

/* Alone it is the property. */
static bool parse_barriers(const char *text, fusion_finalize_options *o)
{
    static const char *const names[] = {"automatic", "none", "needed"};
    if (!text) return o->insert_barriers = true;
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text)) continue;
        o->barriers = (fusion_barriers)i;
        return true;
    }
    return refuse("--barriers", text, names, 3);
}

static bool parse_binding(char *text, struct binding *list, uint32_t *n)
{
    char *equals = strchr(text, '=');
    if (!equals || *n == MAX_FILES) {
        complain("", "invalid", "`%s`: BUFFER=FILE is needed, at most %d times", text, MAX_FILES);
        return false;
    }
    *equals = 0;
    list[(*n)++] = (struct binding){text, equals + 1};
    return true;
}

/* What getopt did not take: an option that there is not, one that lacks its value, or one with a value that has none.
 */
static bool refuse_option(const char *word, int what, const struct option *longs)
{
    char hint[120], name[80];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *bare = name + strspn(name, "-");
    struct nearest s = nearest_begin(bare, strlen(bare));
    for (const struct option *o = longs; o->name; o++) {
        nearest_offer(&s, o->name);
        if (what != ':' && strcmp(o->name, bare) == 0) {
            complain(name, "invalid", "it takes no value");
            return false;
        }
    }
    if (what == ':')
        complain(name, "invalid", "it needs a value; --help lists them");
    else {
        char near[80] = "--";
        if (s.best) snprintf(near + 2, sizeof near - 2, "%s", s.best);
        complain(name, "invalid", "there is no such option%s; --help lists them",
                 nearest_hint(s.best ? near : NULL, hint, sizeof hint));
    }
    return false;
}

/* Errors of the command line are JSON, too, wherever it is asked for. */
static void look_for_json(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0) complain_as_json();
}

/* The one argument that is no option. */
static bool take_graph(int argc, char **argv, struct options *o)
{
    if (optind == argc - 1) {
        o->graph = argv[optind];
        return true;
    }
    if (optind < argc)
        complain(argv[0], "invalid", "it takes one file, not `%s` and `%s`", argv[optind], argv[optind + 1]);
    else
        complain(argv[0], "invalid", "it takes a file; --help says which");
    return false;
}

bool options_parse(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = {{"in", required_argument, NULL, 'i'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"fusion", required_argument, NULL, 'f'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"barriers", optional_argument, NULL, 'b'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"repeat", required_argument, NULL, 'r'},
                                          {"rounds", required_argument, NULL, 'n'},
                                          {"assembly", no_argument, NULL, 'a'},
                                          {"ir", no_argument, NULL, 'R'},
                                          {"profile", no_argument, NULL, 'p'},
                                          {"compare", no_argument, NULL, 'c'},
                                          {"trace", required_argument, NULL, 'T'},
                                          {"dot", required_argument, NULL, 'D'},
                                          {"svg", required_argument, NULL, 'S'},
                                          {"debug", no_argument, NULL, 'g'},
                                          {"bounds", no_argument, NULL, 'B'},
                                          {"tier", required_argument, NULL, 't'},
                                          {"spirv", required_argument, NULL, 's'},
                                          {"dialect", required_argument, NULL, 'l'},
                                          {"save", required_argument, NULL, 'w'},
                                          {"tuning", required_argument, NULL, 'u'},
                                          {"time-limit", required_argument, NULL, 'm'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    bool tier_given = false;
    *o = (struct options){.rounds = 1, .finalize = {FUSION_SIZED(fusion_finalize_options), .mode = FUSION_ENABLE}};
    int c;
    opterr = 0;
    look_for_json(argc, argv);
    while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
        bool ok = true;
        o->has_finalize |= strchr("fbdgBtu", c) != NULL;
        switch (c) {
        case 'i': ok = parse_binding(optarg, o->in, &o->n_in); break;
        case 'o': ok = parse_binding(optarg, o->out, &o->n_out); break;
        case 'f': ok = parse_mode(optarg, &o->finalize.mode); break;
        case 'j': o->json = true; break;
        case 'b': ok = parse_barriers(optarg, &o->finalize); break;
        case 'd': o->finalize.device = optarg; break;
        case 'g': o->finalize.debug = true; break;
        case 'B': o->finalize.bounds = true; break;
        case 'r': ok = parse_number("--repeat", optarg, &o->repeat); break;
        case 'n': ok = parse_number("--rounds", optarg, &o->rounds); break;
        case 'm': ok = parse_number("--time-limit", optarg, &o->time_limit_ms); break;
        case 't': tier_given = ok = parse_tier(optarg, &o->finalize.tier); break;
        case 'a': o->assembly = true; break;
        case 'R': o->ir = true; break;
        case 'p': o->profile = true; break;
        case 'c': o->compare = true; break;
        case 'T': o->trace = optarg; break;
        case 'D': o->dot = optarg; break;
        case 'S': o->svg = optarg; break;
        case 's': o->compile.spirv = optarg; break;
        case 'u': o->finalize.tuning = optarg; break;
        case 'l': o->compile.dialect = optarg; break;
        case 'w': o->save = optarg; break;
        case 'h': options_usage(argv[0]); exit(0);
        default: ok = refuse_option(argv[optind - 1], c, longs);
        }
        if (!ok) return false;
    }
    if (!take_graph(argc, argv, o)) return false;
    /* What is explained or measured is the code, not what runs until there is some. */
    if (!tier_given && (strcmp(argv[0], "explain") == 0 || o->profile || o->compare))
        o->finalize.tier = FUSION_TIER_COMPILED;
    /* The interpreter is slow, and its times are those of no device. */
    o->interpreted = o->finalize.debug || (o->finalize.device && strcmp(o->finalize.device, "reference") == 0);
    if (!o->repeat) o->repeat = (o->profile || o->compare || o->trace) && !o->interpreted ? SEVERAL_RUNS : 1;
    return true;
}
