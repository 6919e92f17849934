/* What kernels have printed. */
#pragma once

#include "client/session/state.h"

/* Hands it on. Called without the session's lock, where a submission is seen to be complete. */
void client_print(fusion_session *s);
