/* fusion-inspect pipes: the pipes of a module, and what programs need to name those of the host. */
#include <fusiond/pipe.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/commands.h"
#include "tools/inspect/graph/graph_data.h"
#include "tools/inspect/graph/load.h"
#include "tools/inspect/integration.h"
#include "tools/inspect/terminal/usage.h"

static const char *what_host_does(const fusion_pipe_info *p)
{
    if (!*p->id) return "kernels only";
    if (p->kernels_read == p->kernels_write) return p->kernels_read ? "kernels have both ends" : "unused by kernels";
    return p->kernels_read ? "host writes" : "host reads";
}

static void print_pipe(const fusion_pipe_info *p)
{
    printf("pipe %s\n  packets: %s, %" PRIu64 " bytes\n  capacity: %" PRIu32 "\n  %s\n", p->name, p->type,
           p->packet_bytes, p->capacity, what_host_does(p));
    if (*p->id) printf("  id: %s\n", p->id);
    if (*p->properties) printf("  properties: %s\n", p->properties);
}

static bool show(fusion_session *s, const struct file_module *files, const char *prefix)
{
    fusion_module *m;
    if (!load_module(s, NULL, files, &m)) return false;
    for (uint32_t i = 0; i < fusion_module_pipe_count(m); i++) print_pipe(fusion_module_pipe(m, i));
    return !prefix || integration_write(m, prefix);
}

int command_pipes(const struct context *c, int argc, char **argv)
{
    struct file_module files = {.name = "linked", .inputs = calloc((size_t)argc, sizeof *files.inputs)};
    const char *prefix = NULL;
    int i = 1, status = 2;
    if (argc > 2 && strcmp(argv[1], "--integration") == 0) {
        prefix = argv[2];
        i = 3;
    }
    while (i < argc && argv[i][0] != '-') files.inputs[files.n_inputs++].path = argv[i++];
    if (files.n_inputs && i == argc) {
        fusion_session *s = connect_or_say(c);
        status = s && show(s, &files, prefix) ? 0 : 1;
        fusion_disconnect(s);
    } else {
        status = usage_of(argc, argv, "[--integration PREFIX] FILE ...", (const char *const[]){"--integration", NULL});
    }
    free(files.inputs);
    return status;
}
