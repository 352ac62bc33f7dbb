#include "brief.inc.h"
