// Limits of a single get: the caller fetches the bytes and leaves a notice, or asks the owner.
#include "clock.hpp"
#include "contents.hpp"
#include "get_batches.hpp"
#include "limits.hpp"
#include "means.hpp"

namespace photon::perf {
namespace {

// The owner of the bytes, for each get: its source is written, and the caller learns that; then it
// sends when it is asked, or sees the notice.
void serve(Channel& channel, const Means& means, const Contents& contents, std::uint64_t gets) {
  const auto& asked = channel.area().asked.line.flag;
  for (std::uint64_t number = 1; number <= gets; ++number) {
    if (contents.is_fresh()) {
      contents.write((channel.*means.source)(number), number);
      channel.ready(number).store_release(number);
    }
    spin_until_at_least<SpinForm::tight>(asked, number);
    if (!means.is_fetched) means.send(channel, number);
  }
}

// Until the bytes of get `number` were read.
void get(Channel& channel, const Means& means, Contents& contents, std::uint64_t number) {
  auto& asked = channel.area().asked.line.flag;
  if (means.is_fetched) {
    means.fetch(channel, number);
  } else {
    asked.store_release(number);
    means.receive(channel, number);
  }
  contents.read((channel.*means.landing)(number), number);
  if (means.is_fetched) asked.store_release(number);
}

Outcome get_each(Team& team, const Buffers& buffers, const Means& means, std::uint64_t gets) {
  Channel channel(team, buffers, {1});
  Contents contents(buffers, team.index());
  begin(team, means, channel);
  const auto batches = batches_for(gets);
  Outcome outcome;
  if (channel.is_sender()) {
    serve(channel, means, contents, batches.total());
  } else {
    outcome = get_batches(
        contents, batches, [&](std::uint64_t number) { get(channel, means, contents, number); },
        [&](std::uint64_t number) {
          spin_until_equal<SpinForm::tight>(channel.ready(number), number);
        });
    contents.expect_all(batches.total());
  }
  team.barrier();
  return outcome;
}

}  // namespace

std::vector<Entry> get_latency_limits(Team& team, const Buffers& buffers, MemoryKind kind) {
  return entries_of(means_for(team, buffers, kind), [&](const Means& means, std::uint64_t count) {
    return get_each(team, buffers, means, count);
  });
}

}  // namespace photon::perf
