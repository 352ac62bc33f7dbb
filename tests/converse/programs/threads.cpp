#include "threads.inc.h"
