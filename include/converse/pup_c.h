/**
 * The C interface of the packing framework, as far as programs with CmiReduceStruct() use it: one
 * function describes a structure, and that measures, packs or unpacks it.
 *
 *   void pup_points(pup_er p, void *data) {
 *     struct points *points = (struct points *)data;
 *     pup_int(p, &points->count);
 *     if (pup_isUnpacking(p)) points->x = malloc(points->count * sizeof(double));
 *     pup_doubles(p, points->x, points->count);
 *   }
 *
 * The bytes lie one behind the other as the machine has them: all processes of a job are of one
 * kind. Errors end the job, as those of all calls of Converse do.
 */
#ifndef PUP_C_H
#define PUP_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CMI_API
#define CMI_API __attribute__((visibility("default")))
#endif

typedef void* pup_er;

/** What is done at present: one of the first three says 1. */
CMI_API int pup_isPacking(const pup_er p);
CMI_API int pup_isUnpacking(const pup_er p);
CMI_API int pup_isSizing(const pup_er p);
/** 1: the structure is over behind this, and its function frees what it has. Never so here. */
CMI_API int pup_isDeleting(const pup_er p);
/** The bytes that were measured, packed or unpacked so far. */
CMI_API size_t pup_size(const pup_er p);

/** Measure; pack into memory that is large enough; unpack from there. */
CMI_API pup_er pup_new_sizer(void);
CMI_API pup_er pup_new_toMem(void* to);
CMI_API pup_er pup_new_fromMem(const void* from);
CMI_API void pup_destroy(pup_er p);

/** `count` bytes; one of a type; `count` of a type. */
CMI_API void pup_bytes(pup_er p, void* bytes, size_t count);
CMI_API void pup_char(pup_er p, char* value);
CMI_API void pup_chars(pup_er p, char* values, size_t count);
CMI_API void pup_uchar(pup_er p, unsigned char* value);
CMI_API void pup_uchars(pup_er p, unsigned char* values, size_t count);
CMI_API void pup_short(pup_er p, short* value);
CMI_API void pup_shorts(pup_er p, short* values, size_t count);
CMI_API void pup_ushort(pup_er p, unsigned short* value);
CMI_API void pup_ushorts(pup_er p, unsigned short* values, size_t count);
CMI_API void pup_int(pup_er p, int* value);
CMI_API void pup_ints(pup_er p, int* values, size_t count);
CMI_API void pup_uint(pup_er p, unsigned int* value);
CMI_API void pup_uints(pup_er p, unsigned int* values, size_t count);
CMI_API void pup_long(pup_er p, long* value);
CMI_API void pup_longs(pup_er p, long* values, size_t count);
CMI_API void pup_ulong(pup_er p, unsigned long* value);
CMI_API void pup_ulongs(pup_er p, unsigned long* values, size_t count);
CMI_API void pup_size_t(pup_er p, size_t* value);
CMI_API void pup_size_ts(pup_er p, size_t* values, size_t count);
CMI_API void pup_int8(pup_er p, int8_t* value);
CMI_API void pup_int8s(pup_er p, int8_t* values, size_t count);
CMI_API void pup_int16(pup_er p, int16_t* value);
CMI_API void pup_int16s(pup_er p, int16_t* values, size_t count);
CMI_API void pup_int32(pup_er p, int32_t* value);
CMI_API void pup_int32s(pup_er p, int32_t* values, size_t count);
CMI_API void pup_int64(pup_er p, int64_t* value);
CMI_API void pup_int64s(pup_er p, int64_t* values, size_t count);
CMI_API void pup_uint8(pup_er p, uint8_t* value);
CMI_API void pup_uint8s(pup_er p, uint8_t* values, size_t count);
CMI_API void pup_uint16(pup_er p, uint16_t* value);
CMI_API void pup_uint16s(pup_er p, uint16_t* values, size_t count);
CMI_API void pup_uint32(pup_er p, uint32_t* value);
CMI_API void pup_uint32s(pup_er p, uint32_t* values, size_t count);
CMI_API void pup_uint64(pup_er p, uint64_t* value);
CMI_API void pup_uint64s(pup_er p, uint64_t* values, size_t count);
CMI_API void pup_float(pup_er p, float* value);
CMI_API void pup_floats(pup_er p, float* values, size_t count);
CMI_API void pup_double(pup_er p, double* value);
CMI_API void pup_doubles(pup_er p, double* values, size_t count);
CMI_API void pup_pointer(pup_er p, void** value);

#ifdef __cplusplus
}
#endif
#endif
