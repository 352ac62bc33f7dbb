#include "ends.inc.h"
