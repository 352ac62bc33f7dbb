/** Random numbers: a part of converse.h. The numbers are not those of the original. */
#ifndef CONVERSE_RANDOM_H
#define CONVERSE_RANDOM_H

#include "converse.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A sequence of numbers, which is of the program; equal seeds and types give equal sequences. */
typedef struct CrnStream {
  CmiUInt8 state;
} CrnStream;

/** `type` is 0, 1 or 2: three sequences of each seed. */
CMI_API void CrnInitStream(CrnStream* stream, unsigned int seed, int type);
/** From 0 to 2^31 - 1. */
CMI_API int CrnInt(CrnStream* stream);
/** From 0, and below 1. */
CMI_API double CrnDouble(CrnStream* stream);
CMI_API float CrnFloat(CrnStream* stream);
/** Of the stream of this PE, whose seed is 0 at first. */
CMI_API void CrnSrand(unsigned int seed);
CMI_API int CrnRand(void);
CMI_API double CrnDrand(void);

#ifdef __cplusplus
}
#endif
#endif
