/* Counts the live bytes of the heap of this process, by standing before the C library's allocator.
 *
 * Invariant: what is freed was counted by the same rule, as malloc_usable_size() says it.
 * Owner: the process. Threads: any.
 */
#pragma once

/* Live bytes now. */
long heap_bytes(void);

/* The peak begins anew, from what is live now on. */
void heap_forget_peak(void);
long heap_peak_bytes(void);
