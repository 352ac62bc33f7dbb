/**
 * Attributes of the classic API: the 17 names that libphoton gave to programs, for GCC and Clang.
 * Elsewhere they stand for nothing. Spelt so that no macro of a program, nor one of
 * <stdnoreturn.h>, changes them. What is an attribute stands before a declaration or after it.
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
#define PHOTON_API __attribute__((__visibility__("default")))
/** What C99 lacks, without a warning. */
#define PHOTON_EXTENSION __extension__

/** Of a type, member or variable. */
#define PHOTON_ALIGNED(bytes) __attribute__((__aligned__(bytes)))
#define PHOTON_PACKED __attribute__((__packed__))

/** Of a variable or function: nobody need use it; or it stays although nobody does. */
#define PHOTON_UNUSED __attribute__((__unused__))
#define PHOTON_USED __attribute__((__used__))

/** Of a symbol: another definition comes first; or it is this library's or program's own. */
#define PHOTON_WEAK __attribute__((__weak__))
#define PHOTON_INTERNAL __attribute__((__visibility__("internal")))

/** Of a function: run before main(), or after it. */
#define PHOTON_CONSTRUCTOR __attribute__((__constructor__))
#define PHOTON_DESTRUCTOR __attribute__((__destructor__))

/** Of a function: what its caller may rely on, or has to see to. */
#define PHOTON_NORETURN __attribute__((__noreturn__))
#define PHOTON_RETURNS_TWICE __attribute__((__returns_twice__))
#define PHOTON_MALLOC __attribute__((__malloc__))
/* The parameters, from 1, that are never null. */
#if defined(__cplusplus) && __cplusplus < 201103L
#define PHOTON_NON_NULL(parameter) __attribute__((__nonnull__(parameter)))
#else
#define PHOTON_NON_NULL(...) __attribute__((__nonnull__(__VA_ARGS__)))
#endif

/** Of a function: how it is compiled. (So spelt; to be said beside `inline`.) */
#define PHOTON_AWAYS_INLINE __attribute__((__always_inline__))
#define PHOTON_NOINLINE __attribute__((__noinline__))
/* A level, as "O3" or 3. Clang has no such attribute, but one for none. */
#if defined(__clang__)
#define PHOTON_OPTIMIZE(level)
#define PHOTON_NO_OPTIMIZE __attribute__((__noinline__, __optnone__))
#else
#define PHOTON_OPTIMIZE(level) __attribute__((__optimize__(level)))
#define PHOTON_NO_OPTIMIZE __attribute__((__noinline__, __optimize__("O0")))
#endif

/** PHOTON_ASM("..."), also in strict C: a statement, or the name of a symbol. */
#define PHOTON_ASM __asm__
#else
#define PHOTON_API
#define PHOTON_EXTENSION
#define PHOTON_ALIGNED(bytes)
#define PHOTON_PACKED
#define PHOTON_UNUSED
#define PHOTON_USED
#define PHOTON_WEAK
#define PHOTON_INTERNAL
#define PHOTON_CONSTRUCTOR
#define PHOTON_DESTRUCTOR
#define PHOTON_NORETURN
#define PHOTON_RETURNS_TWICE
#define PHOTON_MALLOC
#define PHOTON_NON_NULL(...)
#define PHOTON_AWAYS_INLINE
#define PHOTON_NOINLINE
#define PHOTON_OPTIMIZE(level)
#define PHOTON_NO_OPTIMIZE
#define PHOTON_ASM(text)
#endif

#endif
