/* An executable's report as JSON and as text. */
#pragma once

#include <fusiond/fusiond.h>
#include <json.h>

/* launches, groups, tiers, internalized, bytes_fused, bytes_unfused, compile_ms, cache, remarks, order. */
json_object *report_json(const fusion_exec *exec);
/* The same for people. */
void report_print(const fusion_exec *exec);
/* Without the remarks. */
void report_print_summary(const fusion_exec *exec);
/* What has become of launches that were quick; a line each. */
void report_print_tiers(fusion_exec *exec);
void report_print_remark(const fusion_remark *m);
