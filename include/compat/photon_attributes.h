/**
 * Attributes of the classic API's declarations.
 */
#ifndef PHOTON_COMPAT_PHOTON_ATTRIBUTES_H
#define PHOTON_COMPAT_PHOTON_ATTRIBUTES_H

/* In C any int may stand in an enum; so it may in C++ too, and a wrong one is refused. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define PHOTON_ENUM_OF_INT : int
#else
#define PHOTON_ENUM_OF_INT
#endif

#if defined(__GNUC__)
#define PHOTON_API __attribute__((visibility("default")))
/** A table of names need not be used by who includes it. */
#define PHOTON_UNUSED __attribute__((unused))
/** What C99 lacks, without a warning. */
#define PHOTON_EXTENSION __extension__
#else
#define PHOTON_API
#define PHOTON_UNUSED
#define PHOTON_EXTENSION
#endif

#endif
