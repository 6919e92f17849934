/* Where the time of runs went. */
#pragma once

#include <json.h>

#include "tools/inspect/run/runs.h"

/* What the device's memory gives: bytes read and written in a second, by copying; 0 with a message. */
double profile_bandwidth(fusion_session *s, const char *device);
/* bandwidth: as above. */
void profile_print(const struct runs *r, double bandwidth);
json_object *profile_json(const struct runs *r, double bandwidth);
/* "launch 2: fused_blur_tone" or "copy p" into out, which is returned. */
const char *profile_step_name(const fusion_exec *exec, uint32_t step, uint32_t n_steps, char *out, size_t size);
