#include "nested_schedulers.inc.h"
