// A job of four, two ranks on either side of a link that goes down for good. Rank r has to do with
// rank (r + 2) % 4: an even one puts to it without end, an odd one waits to hear from it. When it
// learns that the other is gone it says so, in the words it was told, and ends: nobody could agree
// on more.
//
//   lost_link
//
// Exit status 0: an error of the peer's, and of no other kind.
#include <photon/photon.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t kBytes = 64 << 10;
constexpr std::int64_t kLongUs = 60'000'000;

// Until something is refused, or an operation that was accepted ends with an error.
ph_status put_without_end(ph_context* context, ph_rank peer, const ph_region& target) {
  const std::vector<std::byte> bytes(kBytes);
  for (std::uint64_t id = 1;; ++id) {
    const ph_status posted =
        ph_put_u64(context, peer, {bytes.data(), bytes.size()}, ph_at(&target, 0), {id, id});
    if (posted != PH_OK && posted != PH_AGAIN) return posted;
    ph_completion found[16];
    std::size_t count = 0;
    const ph_query any{PH_ANY_RANK, PH_EITHER, nullptr};
    // Room comes with completions, so who has none sleeps until there are some.
    if (posted == PH_AGAIN)
      if (const ph_status status = ph_wait(context, any, kLongUs); status != PH_OK) return status;
    if (const ph_status status = ph_probe(context, any, found, 16, &count); status != PH_OK)
      return status;
    for (std::size_t i = 0; i < count; ++i)
      if (found[i].status != PH_OK) return static_cast<ph_status>(found[i].status);
  }
}

int run(ph_context* context) {
  ph_region mine{};
  ph_region all[4];
  if (ph_size_of(context) != 4 || ph_alloc(context, kBytes, &mine) != PH_OK ||
      ph_allgather(context, &mine, all, sizeof mine) != PH_OK)
    return 2;
  const ph_rank rank = ph_rank_of(context);
  const ph_rank peer = (rank + 2) % 4;
  const ph_query of_peer{peer, PH_REMOTE, nullptr};
  // Both have met before anybody is parted.
  ph_completion hello{};
  std::size_t count = 0;
  if (ph_notify(context, peer, 1) != PH_OK || ph_wait(context, of_peer, kLongUs) != PH_OK ||
      ph_probe(context, of_peer, &hello, 1, &count) != PH_OK || count != 1 ||
      ph_barrier(context) != PH_OK)
    return 3;
  std::printf("met\n");
  std::fflush(stdout);
  const ph_status status = rank % 2 == 0 ? put_without_end(context, peer, all[peer])
                                         : ph_wait(context, of_peer, kLongUs);
  ph_error error{};
  ph_last_error(context, &error);
  std::printf("%s: %s\n", status == PH_ERR_PEER ? "gone" : ph_status_text(status), error.text);
  std::fflush(stdout);
  return status == PH_ERR_PEER ? 0 : 4;
}

}  // namespace

int main() {
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(nullptr, &context, &error) != PH_OK) {
    std::fprintf(stderr, "create: %s\n", error.text);
    return 1;
  }
  const int status = run(context);
  ph_context_destroy(context);
  return status;
}
