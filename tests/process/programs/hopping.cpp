// Each rank sends so many active messages to each other one; each is sent on by its handler three
// times, from a rank to the next one. Arguments:
//
//   hopping COUNT
//
// When the quiesce ends each rank has handled each exactly once, in each of the four places where
// it may be. Rank 0 writes the rate and the seconds. Exit status 0: so it was.
#include <photon/am.h>
#include <photon/photon.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rank_calls.hpp"

using namespace photon::test;

namespace {

constexpr std::uint32_t kId = 9;
constexpr std::uint32_t kHops = 3;

struct Hop {
  std::uint32_t left = kHops;
  std::uint32_t number = 0;
};

struct Rank {
  ph_context* context;
  ph_rank next;
  std::uint64_t handled[kHops + 1] = {};
  std::uint64_t sums[kHops + 1] = {};  // of their numbers
};

ph_status hop(void* user, const ph_am_message* message, ph_am_landing*) {
  auto& rank = *static_cast<Rank*>(user);
  Hop one;
  if (message->payload_bytes != sizeof one) fail(rank.context, "its size", PH_ERR_PROTOCOL);
  std::memcpy(&one, message->payload, sizeof one);
  if (one.left > kHops) fail(rank.context, "its hops", PH_ERR_PROTOCOL);
  ++rank.handled[one.left];
  rank.sums[one.left] += one.number;
  if (one.left == 0) return PH_OK;
  --one.left;
  require(rank.context, ph_am_send_small(rank.context, rank.next, kId, {&one, sizeof one}),
          "send on");
  return PH_OK;
}

void send_all(const Rank& rank, std::uint32_t count) {
  const ph_rank me = ph_rank_of(rank.context);
  Hop one;
  for (one.number = 1; one.number <= count; ++one.number)
    for (ph_rank to = 0; to < ph_size_of(rank.context); ++to)
      while (to != me) {
        const ph_status status = ph_am_send_small(rank.context, to, kId, {&one, sizeof one});
        if (status == PH_OK) break;
        if (status != PH_AGAIN) fail(rank.context, "send", status);
        static_cast<void>(ph_am_poll(rank.context, 0));
      }
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) return 2;
  const auto count = static_cast<std::uint32_t>(std::stoul(arguments[1]));
  // What comes is handled, and so queues here, though the next rank has no core just now.
  const ph_option options[] = {{"am_queue_bytes", "1073741824"}};
  const ph_config config = {sizeof config, nullptr, options, 1};
  ph_context* context = nullptr;
  ph_error error = {};
  if (ph_context_create(&config, &context, &error) != PH_OK) {
    std::fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  const std::uint32_t size = ph_size_of(context);
  Rank rank{context, (ph_rank_of(context) + 1) % size};
  require(context, ph_am_register(context, kId, hop, &rank), "register");
  require(context, ph_barrier(context), "barrier");
  const auto begin = std::chrono::steady_clock::now();
  send_all(rank, count);
  require(context, ph_am_quiesce(context, PH_FOREVER), "quiesce");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::uint64_t others = size - 1;
  const std::uint64_t sum = others * count * (std::uint64_t{count} + 1) / 2;
  for (std::uint32_t left = 0; left <= kHops; ++left)
    if (rank.handled[left] != others * count || rank.sums[left] != sum) {
      std::fprintf(stderr, "rank %u: of those with %u hops to go %llu were handled, not %llu\n",
                   ph_rank_of(context), left, static_cast<unsigned long long>(rank.handled[left]),
                   static_cast<unsigned long long>(others * count));
      return 1;
    }
  if (ph_rank_of(context) == 0) {
    const double all = static_cast<double>(size * others * count * (kHops + 1));
    std::printf("%.0f messages in %.1f s, %.1f million a second\n", all, took.count(),
                all / took.count() / 1e6);
  }
  const ph_status left = ph_finalize(context);
  if (left != PH_OK) fail(context, "finalize", left);
  ph_context_destroy(context);
  return 0;
}
