// Rank 0 puts into memory of rank 1, a little and then much; rank 1 looks at every byte, and says
// nothing of its own before.
#include <algorithm>

#include "rank_calls.hpp"

namespace {

using photon::test::kBytes;
using photon::test::next;
using photon::test::require;

constexpr std::uint64_t kSmall = 1, kLarge = 2;

void put(ph_context* context, const ph_region& to) {
  std::vector<unsigned char> block = photon::test::block_of(0);
  ph_region from{};
  require(context, ph_register(context, block.data(), kBytes, PH_ACCESS_ALL, &from), "register");
  require(context, ph_put_u64(context, 1, {block.data(), 8}, ph_at(&to, 0), {kSmall, kSmall}),
          "a small put");
  next(context, 1, PH_LOCAL);
  require(context, ph_flush(context, 1, photon::test::kLongUs), "flush");  // they have met
  require(context, ph_put_u64(context, 1, {block.data(), kBytes}, ph_at(&to, 0), {kLarge, kLarge}),
          "a large put");
  next(context, 1, PH_LOCAL);
  require(context, ph_unregister(context, from.key), "unregister");
}

}  // namespace

int main() {
  ph_context* context = nullptr;
  if (ph_context_create(nullptr, &context, nullptr) != PH_OK) return 3;
  std::vector<unsigned char> memory(kBytes);
  ph_region mine{}, all[2]{};
  require(context, ph_register(context, memory.data(), kBytes, PH_ACCESS_ALL, &mine), "register");
  require(context, ph_allgather(context, &mine, all, sizeof mine), "allgather");
  if (ph_rank_of(context) == 0) {
    put(context, all[1]);
  } else {
    for (const std::uint64_t id : {kSmall, kLarge})
      if (next(context, 0, PH_REMOTE).id != id)
        photon::test::fail(context, "another id", PH_ERR_PROTOCOL);
    if (memory != photon::test::block_of(0))
      photon::test::fail(context, "other bytes", PH_ERR_PROTOCOL);
    std::puts("all has arrived");
  }
  require(context, ph_barrier(context), "barrier");
  require(context, ph_finalize(context), "finalize");
  ph_context_destroy(context);
  return 0;
}
