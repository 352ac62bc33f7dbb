#include "ring.inc.h"
