/* The processor time that a way of doing a work takes, in this process and in its executors: where the machine is not
   idle it says more than the clock. */
#pragma once

#include <fusiond/fusiond.h>

/* From now on. Starts the program again if need be, with OpenMP's threads sleeping where they wait. */
void processor_use(char **argv);
bool processor_used(void);
/* Counts the executors of the session's daemon, too, as they are now. */
void processor_watch(fusion_session *s);
double processor_ms(void);
