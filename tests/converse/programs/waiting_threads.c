#include "waiting_threads.inc.h"
