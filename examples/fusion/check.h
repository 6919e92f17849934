/* What both example programs need: ending with the library's words, the fusion mode asked for. */
#pragma once

#include <fusiond/fusiond.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with the reason where a call failed. */
static inline void check(fusion_status status)
{
    if (status == FUSION_SUCCESS) return;
    const fusion_error *e = fusion_last_error();
    fprintf(stderr, "%s: %s: %s\n", fusion_status_name(status), e->object, e->reason);
    exit(1);
}

/* "none", "enable", "require"; without an argument require, as in the specification's programs. */
static inline fusion_mode mode_of(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[2], "require") == 0) return FUSION_REQUIRE;
    return strcmp(argv[2], "enable") == 0 ? FUSION_ENABLE : FUSION_NONE;
}

static inline void print_report(const fusion_exec *exec)
{
    const fusion_report *r = fusion_exec_report(exec);
    printf("launches: %u\n", r->launches);
    for (uint32_t i = 0; i < r->n_internalized; i++)
        printf("internalized: %s (%s)\n", r->internalized[i].buffer, r->internalized[i].memory);
    for (uint32_t i = 0; i < r->n_remarks; i++) printf("remark %s: %s\n", r->remarks[i].code, r->remarks[i].text);
}
