/* The search for the plan of a graph that runs fastest here: one choice after the other is made in other ways, and what
   is better stays. */
#pragma once

#include "tools/inspect/graph/load.h"
#include "tools/inspect/run/options.h"

enum { TUNING_TEXT = 512 };

/* As fusion_finalize_options has it. */
struct tuning {
    char text[TUNING_TEXT];
};

enum trial_outcome { TRIAL_SAME, TRIAL_WORSE, TRIAL_BETTER, TRIAL_REFUSED };

struct tuning_trial {
    struct tuning tuning;
    enum trial_outcome outcome;
    uint32_t launches;
    double ms, ratio; /* ratio: of the time of the best before to its own */
};

struct tuning_result {
    struct tuning_trial *trials;
    uint32_t n_trials;
    struct tuning best;
    double ratio; /* of the time of what the cost model chose to that of the best, if that is another */
};

/* told: of each trial as it is done; NULL: nobody. The best is kept for the graph. False with a message. */
bool tuning_search(struct loaded *l, const struct options *o, void (*told)(const struct tuning_trial *t),
                   struct tuning_result *out);
void tuning_clear(struct tuning_result *r);
