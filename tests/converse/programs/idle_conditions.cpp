#include "idle_conditions.inc.h"
