#include "thread_strategy.inc.h"
