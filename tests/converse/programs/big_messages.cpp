#include "big_messages.inc.h"
