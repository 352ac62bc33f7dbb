#include "converse.h"
extern "C" {  // the other half is C
#include "../variables_second.inc.h"
}
