#include "quiescence.inc.h"
