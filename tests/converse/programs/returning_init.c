#include "returning_init.inc.h"
