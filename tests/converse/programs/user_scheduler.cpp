#include "user_scheduler.inc.h"
