/**
 * Everything of Photon's C interface. See README.md for a first program.
 */
#ifndef PHOTON_PHOTON_H
#define PHOTON_PHOTON_H

#include "address.h"
#include "am.h"
#include "atomic.h"
#include "coll.h"
#include "coll_provider.h"
#include "context.h"
#include "echo.h"
#include "lane.h"
#include "mailbox.h"
#include "map.h"
#include "memory.h"
#include "progress.h"
#include "rendezvous.h"
#include "request.h"
#include "rma.h"
#include "stats.h"
#include "stream.h"
#include "team.h"
#include "types.h"
#include "vector.h"

#endif
