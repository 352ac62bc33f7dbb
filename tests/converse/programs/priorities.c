#include "priorities.inc.h"
