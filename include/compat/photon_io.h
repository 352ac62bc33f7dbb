/**
 * libphoton declared calls for files here, which went by a forwarder of its testbed. This library
 * has none of them: the header is there so that programs which include it and use the calls of
 * photon.h compile.
 */
#ifndef PHOTON_COMPAT_PHOTON_IO_H
#define PHOTON_COMPAT_PHOTON_IO_H

#include "photon.h"

#endif
