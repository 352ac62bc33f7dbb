#include "flood.inc.h"
