/* What clients can ask for: the table of methods. */
#pragma once

#include "daemon/broker/session/session.h"

extern const struct session_events methods_events;
