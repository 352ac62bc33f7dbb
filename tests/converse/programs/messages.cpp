#include "messages.inc.h"
