#include "handlers.inc.h"
