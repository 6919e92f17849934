/* Entries of no executable: contents that only a device has come back to the session's memory. */
#pragma once

struct submission;

/* The error, if there is one, is in the submission then; the second one sets its time, too. */
void take_back(struct submission *s);
/* By the executor for GPUs, which has them. */
void take_back_by_relay(struct submission *s);
