/* A job of one rank that puts to itself, in strict C11. */
#include <photon/photon.h>
#include <stdio.h>
#include <string.h>

static int fail(ph_context* context, const char* what) {
  ph_error error;
  ph_last_error(context, &error);
  fprintf(stderr, "%s: %s\n", what, error.text);
  return 1;
}

static int put_to_self(ph_context* context) {
  ph_region region;
  if (ph_alloc(context, 4096, &region) != PH_OK) return fail(context, "ph_alloc");

  const char text[] = "installed and working";
  ph_const_block source = {text, sizeof text};
  ph_u64_ids ids = {1, 2};
  ph_status status = ph_put_u64(context, 0, source, ph_at(&region, 64), ids);
  if (status != PH_OK) return fail(context, "ph_put_u64");

  ph_query query = {PH_ANY_RANK, PH_EITHER, NULL};
  int seen = 0;
  while (seen != 3) {
    ph_completion completion;
    size_t count = 0;
    if (ph_probe(context, query, &completion, 1, &count) != PH_OK) return fail(context, "ph_probe");
    if (count == 1) seen |= (int)completion.id;
  }
  const char* landed = (const char*)(uintptr_t)region.address + 64;
  if (strcmp(landed, text) != 0) return fail(context, "the bytes are not there");
  puts(landed);
  return 0;
}

int main(void) {
  ph_context* context = NULL;
  ph_error error;
  if (ph_context_create(NULL, &context, &error) != PH_OK) {
    fprintf(stderr, "ph_context_create: %s\n", error.text);
    return 1;
  }
  int result = put_to_self(context);
  if (ph_finalize(context) != PH_OK) result = fail(context, "ph_finalize");
  ph_context_destroy(context);
  return result;
}
