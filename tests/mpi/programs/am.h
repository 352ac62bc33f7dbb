/*
 * What the cases of active messages share: the names of the library, payloads that say of each byte
 * what it has to be, and messages that count themselves.
 * Owner: the program. Threads: handlers run one at a time, in any thread; what they write here is
 * read behind MPIX_Am_quiesce().
 */
#pragma once

#include <photon/photon_mpi.h>

#include "check.h"

/* Of the library that is preloaded, if there is one. */
#pragma weak MPIX_Am_handler_register
#pragma weak MPIX_Am_free
#pragma weak MPIX_Am_send
#pragma weak MPIX_Am_quiesce
#pragma weak MPIX_Am_layout_create
#pragma weak MPIX_Am_layout_free

enum { kLarge = 3 << 20 };

static unsigned char pattern(int seed, size_t i) {
  return (unsigned char)(seed * 37 + (int)(i % 251) + (int)(i / 251 % 17));
}
__attribute__((unused)) static unsigned char* payload_of(int seed, size_t bytes) {
  unsigned char* const all = must_have(malloc(bytes + 1));
  for (size_t i = 0; i < bytes; ++i) all[i] = pattern(seed, i);
  return all;
}
__attribute__((unused)) static void check_pattern(const char* what, int seed,
                                                  const unsigned char* found, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    if (found[i] != pattern(seed, i))
      fail("%s: byte %zu of %zu: expected %02x, found %02x", what, i, bytes, pattern(seed, i),
           found[i]);
}

static void check_good(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  fail("%s: %s", what, text);
}
/* An error of that class, whose text has these words. MPICH gives no such texts. */
__attribute__((unused)) static void check_refused(const char* what, int class, const char* words,
                                                  int code) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  check_equal(what, class, class_of(code));
  MPI_Get_library_version(library, &length);
  if (strstr(library, "Open MPI") == NULL) return;
  MPI_Error_string(code, text, &length);
  if (strstr(text, words) == NULL) fail("%s: expected \"%s\", found \"%s\"", what, words, text);
}

static MPIX_Am join(MPIX_Am_hhandler* hhandler, void* user, int id, MPI_Comm comm) {
  MPIX_Am am = MPIX_AM_NULL;
  check_good("MPIX_Am_handler_register", MPIX_Am_handler_register(hhandler, user, id, comm, &am));
  check_true("a handle", am != MPIX_AM_NULL);
  return am;
}
__attribute__((unused)) static void leave(MPIX_Am* am) {
  check_good("MPIX_Am_free", MPIX_Am_free(am));
  check_true("a freed handle is null", *am == MPIX_AM_NULL);
}
struct span {
  const void* data;
  size_t size;
};
static const struct span none;
static struct span part_of(const void* data, size_t size) {
  const struct span all = {data, size};
  return all;
}
static void send_to(int rank, struct span immediate, struct span payload, MPIX_Am am) {
  check_good("MPIX_Am_send", MPIX_Am_send(immediate.data, (int)immediate.size, payload.data,
                                          (MPI_Count)payload.size, MPI_BYTE, rank, am));
}
__attribute__((unused)) static void settle(void) {
  check_good("MPIX_Am_quiesce", MPIX_Am_quiesce(MPI_COMM_WORLD));
}

/* Until a handler in another thread has set the word; this thread calls nothing meanwhile. */
__attribute__((unused)) static void await_word(const volatile int* word) {
  const double end = MPI_Wtime() + 30;
  while (*word == 0)
    if (MPI_Wtime() > end) fail("nothing has come in half a minute");
}
