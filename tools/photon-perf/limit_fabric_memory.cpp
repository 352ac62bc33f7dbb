#include <optional>
#include <thread>

#include "bare_fabric.hpp"
#include "failure.hpp"
#include "resources.hpp"

namespace photon::perf {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

// By turns: all ranks of the job may be on few cores.
void await_politely(BareFabric& fabric, std::size_t slot) {
  while (!fabric.has_come(slot)) std::this_thread::yield();
}

void send_word(BareFabric& fabric) {
  fabric.send(fabric.sent_word(), kWordBytes);
  fabric.await_sends();
}

void expect_word(BareFabric& fabric, std::size_t slot) {
  fabric.receive(slot, fabric.received_word(slot), kWordBytes);
}

double call_all(Team& crew, BareFabric& fabric, std::uint32_t skipped) {
  double before_bytes = static_cast<double>(resident_bytes());
  for (std::uint32_t rank = 1; rank < crew.count(); ++rank) {
    const std::size_t slot = rank % BareFabric::kReceives;
    expect_word(fabric, slot);
    fabric.connect(crew.card_of<BareFabric::Card>(rank));
    send_word(fabric);
    await_politely(fabric, slot);
    if (rank <= skipped) before_bytes = static_cast<double>(resident_bytes());
  }
  const double growth_bytes = static_cast<double>(resident_bytes()) - before_bytes;
  return growth_bytes / (crew.count() - 1 - skipped);
}

}  // namespace

std::optional<double> bare_contact_bytes(Team& crew, const FabricNames& names,
                                         std::uint32_t skipped) {
  std::optional<BareFabric> fabric;
  BareFabric::Card mine{};
  try {
    fabric.emplace(names, Buffers{});
    mine = fabric->card();
    if (crew.index() != 0) expect_word(*fabric, 0);
  } catch (const Failure&) {
    mine.is_open = false;
  }
  crew.exchange(mine);
  for (std::uint32_t rank = 0; rank < crew.count(); ++rank)
    if (!crew.card_of<BareFabric::Card>(rank).is_open) return std::nullopt;
  double each_bytes = 0;
  if (crew.index() == 0) {
    each_bytes = call_all(crew, *fabric, skipped);
  } else {
    await_politely(*fabric, 0);
    fabric->connect(crew.card_of<BareFabric::Card>(0));
    send_word(*fabric);
  }
  crew.barrier_asleep();
  return each_bytes;
}

}  // namespace photon::perf
