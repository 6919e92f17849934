/* A job of the compiler: a request of the broker, answered by one reply. docs/protocol.md, "Broker and compiler". */
#pragma once

#include "ir/base/error.h"
#include "proto/frame.h"
#include "proto/writer.h"

struct diag_list;
struct ir_function;
struct ir_module;

/* Fails with all findings, one per line: "name:12:5: ...", as many as fit. name may be NULL. */
int job_fail_findings(struct error *e, fusion_status status, const char *object, const char *name,
                      const struct diag_list *findings);
/* The same of text of n bytes: the line of each finding is shown, with a caret below the column. */
int job_fail_text(struct error *e, const char *object, const char *name, const char *text, size_t n,
                  const struct diag_list *findings);
int job_missing(struct error *e, const struct proto_message *m, const char *key);

/* The GPU that the job is for, if it came with one. 0, or -1 with the error. */
int job_read_gpu(const struct proto_message *m, struct error *e);

/* The module in a job's bytes; NULL with the error. name is what errors call it. */
struct ir_module *job_decode_module(const void *bytes, size_t size, const char *name, struct error *e);

/* The job ended compilers before, or was not done in time: how it is to be done. */
enum job_care {
    JOB_ANY,    /* well */
    JOB_SCALAR, /* a kernel's code with little effort */
    JOB_NO_CODE /* none */
};
extern enum job_care job_care;

/* Writes the whole reply on success. 0, or -1 with the error and no reply begun. */
typedef int job(const struct proto_message *m, struct proto_writer *reply, struct error *e);
job job_module, job_link, job_plan, job_compile, job_save;
