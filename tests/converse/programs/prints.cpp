#include "prints.inc.h"
