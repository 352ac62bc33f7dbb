#include "locks.inc.h"
