#include "heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

/* The C library's own, by the names under which it keeps them. */
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);

static atomic_long live, peak;

static void* count_in(void* memory) {
  const long more = memory == NULL ? 0 : (long)malloc_usable_size(memory);
  const long now = atomic_fetch_add_explicit(&live, more, memory_order_relaxed) + more;
  long most = atomic_load_explicit(&peak, memory_order_relaxed);
  while (now > most && !atomic_compare_exchange_weak_explicit(
                           &peak, &most, now, memory_order_relaxed, memory_order_relaxed)) {
  }
  return memory;
}

static void count_out(long bytes) { atomic_fetch_sub_explicit(&live, bytes, memory_order_relaxed); }

static long size_of(void* memory) { return memory == NULL ? 0 : (long)malloc_usable_size(memory); }

void* malloc(size_t bytes) { return count_in(__libc_malloc(bytes)); }
void* calloc(size_t count, size_t bytes) { return count_in(__libc_calloc(count, bytes)); }
void* memalign(size_t alignment, size_t bytes) {
  return count_in(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory == NULL ? ENOMEM : 0;
}

/* Both lie there for a while, if it moves. */
void* realloc(void* memory, size_t bytes) {
  const long before = size_of(memory);
  void* const moved = __libc_realloc(memory, bytes);
  if (moved == NULL && bytes != 0) return NULL;
  count_in(moved);
  count_out(before);
  return moved;
}

void free(void* memory) {
  count_out(size_of(memory));
  __libc_free(memory);
}

long heap_bytes(void) { return atomic_load_explicit(&live, memory_order_relaxed); }
void heap_forget_peak(void) { atomic_store_explicit(&peak, heap_bytes(), memory_order_relaxed); }
long heap_peak_bytes(void) { return atomic_load_explicit(&peak, memory_order_relaxed); }
