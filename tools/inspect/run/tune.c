#include "tools/inspect/run/tune.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/inspect/run/tuning.h"
#include "tools/inspect/terminal/complain.h"
#include "tools/inspect/terminal/json.h"
#include "tools/inspect/terminal/progress.h"

static const char *text_of(const struct tuning *t)
{
    return *t->text ? t->text : "the cost model's";
}

static void print_trial(const struct tuning_trial *t)
{
    static const char *const outcomes[] = {
        [TRIAL_SAME] = "the same plan", [TRIAL_WORSE] = "", [TRIAL_BETTER] = "better", [TRIAL_REFUSED] = "refused"};
    printf("  %-44s ", text_of(&t->tuning));
    if (t->outcome == TRIAL_WORSE || t->outcome == TRIAL_BETTER)
        printf("%3" PRIu32 " launch%-2s %8.3f ms  %5.2f x  %s\n", t->launches, t->launches == 1 ? "" : "es", t->ms,
               t->ratio, outcomes[t->outcome]);
    else
        printf("%s\n", outcomes[t->outcome]);
}

static json_object *trial_json(const struct tuning_trial *t)
{
    static const char *const outcomes[] = {
        [TRIAL_SAME] = "same", [TRIAL_WORSE] = "worse", [TRIAL_BETTER] = "better", [TRIAL_REFUSED] = "refused"};
    json_object *o = json_object_new_object();
    json_object_object_add(o, "tuning", json_object_new_string(t->tuning.text));
    json_object_object_add(o, "outcome", json_object_new_string(outcomes[t->outcome]));
    if (t->outcome != TRIAL_WORSE && t->outcome != TRIAL_BETTER) return o;
    json_object_object_add(o, "launches", json_object_new_int64(t->launches));
    json_object_object_add(o, "ms", json_object_new_double(t->ms));
    json_object_object_add(o, "ratio", json_object_new_double(t->ratio));
    return o;
}

static void tell_json(const struct tuning_result *r)
{
    json_object *o = json_object_new_object(), *trials = json_object_new_array();
    for (uint32_t i = 0; i < r->n_trials; i++) json_object_array_add(trials, trial_json(&r->trials[i]));
    json_object_object_add(o, "tried", trials);
    json_object_object_add(o, "kept", json_object_new_string(r->best.text));
    json_object_object_add(o, "ratio", json_object_new_double(r->ratio));
    print_json(o);
    json_object_put(o);
}

bool tune_graph(struct loaded *l, const struct options *o)
{
    struct tuning_result result;
    if (o->finalize.mode != FUSION_ENABLE || o->finalize.debug) {
        complain("tune", "invalid", "only what is fused with --fusion enable, and not debugged, is tuned");
        return false;
    }
    if (!o->json) puts("tried, against the best before (above 1: faster):");
    bool ok = tuning_search(l, o, o->json ? NULL : print_trial, &result);
    progress_end();
    if (ok && o->json) tell_json(&result);
    if (ok && !o->json)
        printf("kept: %s, %.2f x as fast as what the cost model chose\n", text_of(&result.best), result.ratio);
    tuning_clear(&result);
    return ok;
}
