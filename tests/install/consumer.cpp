// The C interface from C++20, and the version the package promised.
#include <photon/photon.h>

#include <cstdio>

int main() {
  if (ph_version() < 100) return 1;
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(nullptr, &context, &error) != PH_OK) {
    std::fprintf(stderr, "ph_context_create: %s\n", error.text);
    return 1;
  }
  const bool alone = ph_rank_of(context) == 0 && ph_size_of(context) == 1;
  const ph_status finalized = ph_finalize(context);
  ph_context_destroy(context);
  return alone && finalized == PH_OK ? 0 : 1;
}
