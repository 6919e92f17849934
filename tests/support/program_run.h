/* Runs a random program through the service, in one of the ways there are, and keeps what it leaves behind. */
#pragma once

#include <fusiond/fusiond.h>

#include "tests/support/random_program.h"

enum {
    PROGRAM_RUNS = 2,
    PROGRAM_PIXELS = 256,
    PROGRAM_ROW = 16,
    PROGRAM_PATIENCE_MS = 600000, /* for each thing: others may need the processor for long */
};

enum program_way { PROGRAM_BY_COMMAND, PROGRAM_RECORDED, PROGRAM_BUILT };

struct program_outcome {
    int32_t arrays[PROGRAM_ARRAYS][PROGRAM_ELEMENTS]; /* those that are internal stay 0 */
    int32_t images[PROGRAM_IMAGES][4 * PROGRAM_PIXELS];
    int32_t own[PROGRAM_MOST_STEPS][PROGRAM_ROW]; /* what was copied to this process */
    uint32_t launches, internalized;              /* of a graph */
    bool vouched;                                 /* taken on the word of require_fusion, which may be wrong */
    fusion_status status;                         /* of the first call that failed; nothing else counts then */
    char error[600];
};

/* The program, PROGRAM_RUNS times. options: of a graph. Threads may do it at the same time. */
void program_run(fusion_session *session, fusion_module *module, const struct program *p, enum program_way way,
                 const fusion_finalize_options *options, struct program_outcome *out);
/* The first difference into text; false: there is none. */
bool program_differs(const struct program_outcome *a, const struct program_outcome *b, char *text, size_t size);
