#include "timers.inc.h"
