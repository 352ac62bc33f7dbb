// A token goes around all ranks, in C++: photonrun -n 4 ring
// Each hop is one put whose remote id wakes the next rank.
#include <photon/photon.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>

namespace {

constexpr std::uint64_t kRounds = 1'000;  // each hop may cost a sleep if cores are busy

// Sleeps until the token is here.
void receive(photon::Context& context) {
  while (!context.probe_one(photon::kRemote)) context.wait(photon::kRemote);
}

void run() {
  photon::Context context;
  auto token = context.allocate<std::uint64_t>(1);
  const auto regions = context.allgather(token.region());
  const photon::Rank next = (context.rank() + 1) % context.size();

  // What is sent must not change until its local id is probed. Here nobody asks for local ids: when
  // the token is back, it has been read.
  std::uint64_t outgoing = 0;
  const auto send = [&] {
    outgoing = token[0] + 1;
    const photon::Target target = photon::at(regions[next], 0);
    while (!context.put(next, std::span(&outgoing, 1), target, {.remote = 1}))
      (void)context.probe_one(photon::kLocal);  // back-pressure: nothing was sent; this makes room
  };

  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    if (context.rank() == 0) send();
    receive(context);
    if (context.rank() != 0) send();
  }
  if (context.rank() != 0) return;

  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  const std::uint64_t hops_count = kRounds * context.size();
  std::printf("ring: %u ranks, token counted %llu of %llu hops, %.2f us a hop\n", context.size(),
              static_cast<unsigned long long>(token[0]),
              static_cast<unsigned long long>(hops_count),
              time.count() / static_cast<double>(hops_count));
  if (token[0] != hops_count) throw std::runtime_error("the token was lost on its way");
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ring: %s\n", error.what());
    return 1;
  }
}
