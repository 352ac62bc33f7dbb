#include "../program.inc.h"
extern "C" {  // the other half is C
#include "../variables_halves.inc.h"
}
#include "../variables_first.inc.h"
