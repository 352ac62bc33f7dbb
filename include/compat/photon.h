/**
 * The classic Photon API: programs written against libphoton 1.1 compile and link unchanged.
 * New programs: <photon/photon.h>. Which call became which: docs/classic.md.
 */
#ifndef PHOTON_COMPAT_PHOTON_H
#define PHOTON_COMPAT_PHOTON_H

#include "photon_config.h"
#include "photon_attributes.h"
#include "photon_collectives.h"
#include "photon_atomics.h"
#include "photon_api.h"

#endif
