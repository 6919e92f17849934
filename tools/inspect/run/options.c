#include "tools/inspect/run/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
             "                                 with the following 10\n"
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

static bool parse_mode(const char *text, fusion_mode *mode)
{
    static const char *const names[] = {"none", "enable", "require"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text)) continue;
        *mode = (fusion_mode)i;
        return true;
    }
    fprintf(stderr, "--fusion takes none, enable or require, not `%s`\n", text);
    return false;
}

static bool parse_tier(const char *text, fusion_tier *tier)
{
    static const char *const names[] = {"automatic", "quick", "compiled"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text)) continue;
        *tier = (fusion_tier)i;
        return true;
    }
    fprintf(stderr, "--tier takes automatic, quick or compiled, not `%s`\n", text);
    return false;
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
    fprintf(stderr, "--barriers takes automatic, none, needed or nothing, not `%s`\n", text);
    return false;
}

static bool parse_binding(char *text, struct binding *list, uint32_t *n)
{
    char *equals = strchr(text, '=');
    if (!equals || *n == MAX_FILES) {
        fprintf(stderr, "`%s`: BUFFER=FILE is needed, at most %d times\n", text, MAX_FILES);
        return false;
    }
    *equals = 0;
    list[(*n)++] = (struct binding){text, equals + 1};
    return true;
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
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    bool tier_given = false;
    *o = (struct options){.finalize = {FUSION_SIZED(fusion_finalize_options), .mode = FUSION_ENABLE}};
    unsigned long repeats = 1;
    int c;
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        bool ok = true;
        o->has_finalize |= strchr("fbdgtu", c) != NULL;
        switch (c) {
        case 'i': ok = parse_binding(optarg, o->in, &o->n_in); break;
        case 'o': ok = parse_binding(optarg, o->out, &o->n_out); break;
        case 'f': ok = parse_mode(optarg, &o->finalize.mode); break;
        case 'j':
            o->json = true;
            complain_as_json();
            break;
        case 'b': ok = parse_barriers(optarg, &o->finalize); break;
        case 'd': o->finalize.device = optarg; break;
        case 'g': o->finalize.debug = true; break;
        case 'B': o->finalize.bounds = true; break;
        case 'r': o->repeat = (uint32_t)(repeats = strtoul(optarg, NULL, 10)); break;
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
        default: ok = false;
        }
        if (!ok) return false;
    }
    if (optind != argc - 1 || repeats == 0) {
        options_usage(argv[0]);
        return false;
    }
    /* What is explained or measured is the code, not what runs until there is some. */
    if (!tier_given && (strcmp(argv[0], "explain") == 0 || o->profile || o->compare))
        o->finalize.tier = FUSION_TIER_COMPILED;
    if (!o->repeat) o->repeat = o->profile || o->compare || o->trace ? SEVERAL_RUNS : 1;
    o->graph = argv[optind];
    return true;
}
