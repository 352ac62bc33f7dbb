#include "arguments.inc.h"
