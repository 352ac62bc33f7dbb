/**
 * libphoton declared its forwarder by the protocol XSP here. This library has none
 * (photon_config_t::forwarder is not read): the header is there so that programs which include it
 * and use the calls of photon.h compile.
 */
#ifndef PHOTON_COMPAT_PHOTON_XSP_FORWARDER_H
#define PHOTON_COMPAT_PHOTON_XSP_FORWARDER_H

#include "photon.h"

#endif
