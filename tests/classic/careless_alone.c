/* careless.c under photonrun: the launcher says who is who. */
#include <photon.h>

#include "careless.h"

int main(int argc, char** argv) { return careless(argc, argv, PHOTON_EXCH_TCP); }
