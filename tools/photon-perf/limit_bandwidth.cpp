// Limits of bandwidths: streams of messages with kWindow in flight, read by their receiver.
#include <cstring>

#include "clock.hpp"
#include "contents.hpp"
#include "limits.hpp"
#include "means.hpp"

namespace photon::perf {
namespace {

void send_all(Channel& channel, const Means& means, const Contents& contents, std::uint64_t count) {
  const auto& taken = channel.area().taken.line.flag;
  for (std::uint64_t number = 1; number <= count; ++number) {
    if (!means.is_buffered && number > channel.slots()) {
      spin_until_at_least<SpinForm::tight>(taken, number - channel.slots());
    }
    contents.write((channel.*means.source)(number), number);
    means.send(channel, number);
  }
  spin_until_at_least<SpinForm::tight>(taken, count);
}

void receive_all(Channel& channel, const Means& means, Contents& contents, std::uint64_t count) {
  auto& taken = channel.area().taken.line.flag;
  for (std::uint64_t number = 1; number <= count; ++number) {
    means.receive(channel, number);
    contents.read((channel.*means.landing)(number), number);
    taken.store_release(number);
  }
  contents.expect_all(count);
}

// Index 0 ends when everything was read, so that its time is the stream's. Who rewrites a fresh
// source does so within it, as our side does.
Outcome stream(Team& team, const Buffers& buffers, const Means& means, std::uint32_t sender,
               std::uint64_t count) {
  Channel channel(team, buffers, {sender, kWindow});
  Contents contents(buffers, team.index());
  begin(team, means, channel);
  Outcome outcome;
  const auto start_ns = now_ns();
  if (channel.is_sender()) {
    send_all(channel, means, contents, count);
  } else {
    receive_all(channel, means, contents, count);
  }
  const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
  team.barrier();
  if (team.index() == 0) outcome.per_second = static_cast<double>(count) * 1e9 / elapsed_ns;
  return outcome;
}

std::vector<Entry> streams_from(Team& team, const Buffers& buffers, MemoryKind kind,
                                std::uint32_t sender) {
  return entries_of(means_for(team, buffers, kind),
                    [&team, &buffers, sender](const Means& means, std::uint64_t count) {
                      return stream(team, buffers, means, sender, count);
                    });
}

}  // namespace

std::vector<Entry> put_bandwidth_limits(Team& team, const Buffers& buffers, MemoryKind kind) {
  return streams_from(team, buffers, kind, 0);
}

// The owner sends what the caller would ask for: less work than a get, where it copies.
std::vector<Entry> get_bandwidth_limits(Team& team, const Buffers& buffers, MemoryKind kind) {
  return streams_from(team, buffers, kind, 1);
}

Entry local_copy(Team& team, const Buffers& buffers) {
  return {"local warm memcpy", [&](std::uint64_t count) {
            Outcome outcome;
            team.barrier();
            const auto start_ns = now_ns();
            for (std::uint64_t i = 0; team.index() == 0 && i < count; ++i) {
              std::memcpy(buffers.landing[i % kWindow], buffers.source, buffers.size_bytes);
              keep_stores();
            }
            const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
            team.barrier();
            if (team.index() == 0)
              outcome.per_second = static_cast<double>(count) * 1e9 / elapsed_ns;
            return outcome;
          }};
}

}  // namespace photon::perf
