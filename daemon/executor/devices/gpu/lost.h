/* A driver that has lost its device: nothing works any more. */
#pragma once

/* Tells the session that the submission that runs failed, and ends the process: another one loads the driver anew.
   Returns only where somebody else ends it already. */
void gpu_lost(const char *device, const char *driver, const char *object);
