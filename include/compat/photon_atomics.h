/**
 * Operations of photon_atomic().
 */
#ifndef PHOTON_COMPAT_PHOTON_ATOMICS_H
#define PHOTON_COMPAT_PHOTON_ATOMICS_H

#include "photon_attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PHOTON_ENUM_OF_INT {
  PHOTON_ATOMIC_MIN = 1,
  PHOTON_ATOMIC_MAX,
  PHOTON_ATOMIC_SUM,
  PHOTON_ATOMIC_LAST
} photon_atomic_op;

#ifdef __cplusplus
}
#endif
#endif
