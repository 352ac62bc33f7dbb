/* Every name of photon_attributes.h in use, and what can be seen of it: C, C++, GCC, Clang. */
#include <photon_attributes.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h> /* after it a bare noreturn is another word */
#include <string.h>

int attributes_real_name = 6;
extern int known_otherwise PHOTON_ASM("attributes_real_name");

struct loose {
  char first;
  int second;
};
struct PHOTON_PACKED dense {
  char first;
  int second;
};
struct line {
  char bytes[3];
} PHOTON_ALIGNED(64);

static PHOTON_UNUSED int nobody_needs_it;
static PHOTON_UNUSED int nobody_calls_it(void) { return 1; }
static PHOTON_USED int stays_all_the_same(void) { return 2; }
static PHOTON_USED const char stays_too[] = "attributes: this text stays in the program";

int weak_answer(void);
PHOTON_WEAK int weak_answer(void) { return 3; }
PHOTON_INTERNAL int of_the_program(void);
int of_the_program(void) { return 4; }

static int constructed;
static PHOTON_CONSTRUCTOR void before_main(void) { constructed = 5; }
static PHOTON_DESTRUCTOR void after_main(void) { puts("after main"); }

PHOTON_NORETURN static void leave(int status);
static void leave(int status) { exit(status); }

static jmp_buf place;
int set_the_place(void) PHOTON_RETURNS_TWICE;
int set_the_place(void) { return 0; }

static PHOTON_MALLOC void* room(size_t size_bytes) { return malloc(size_bytes); }

static PHOTON_NON_NULL(1, 2) int same(const char* one, const char* other) {
  return strcmp(one, other) == 0;
}
static int some_text(const char* text) PHOTON_NON_NULL(1);
static int some_text(const char* text) { return text[0] != 0; }

static inline PHOTON_AWAYS_INLINE int always(int value) { return value * 2; }
static PHOTON_NOINLINE int never(int value) { return value * 3; }
static PHOTON_OPTIMIZE("O3") int quick(int value) { return value * 5; }
static PHOTON_OPTIMIZE(2) int quicker(int value) { return value * 7; }
static PHOTON_NO_OPTIMIZE int as_written(int value) { return value * 11; }

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "attributes: %s\n", what);
  leave(1);
}

int main(void) {
  char* bytes = (char*)room(8);
  volatile int jumps = 0;
  require(bytes != NULL, "MALLOC");
  free(bytes);
  require(sizeof(struct dense) == 1 + sizeof(int), "PACKED");
  require(sizeof(struct loose) > sizeof(struct dense), "PACKED is all there is to it");
  require(sizeof(struct line) == 64, "ALIGNED");
  require(weak_answer() == 3 && of_the_program() == 4, "WEAK, INTERNAL");
  require(known_otherwise == 6, "ASM as a name");
  PHOTON_ASM("");
  PHOTON_ASM volatile("" ::: "memory");
  require(constructed == 5, "CONSTRUCTOR");
  if (setjmp(place) == 0) longjmp(place, 1);
  jumps = jumps + 1;
  require(jumps == 1 && set_the_place() == 0, "RETURNS_TWICE");
  require(same("a", "a") && some_text("a"), "NON_NULL");
  require(always(1) + never(1) + quick(1) + quicker(1) + as_written(1) == 28, "the rest");
  return 0;
}
