// The means by which two bare processes pass a message: who copies, from where to where, and how.
// The programs around them are the same for all (limit_latency.cpp, limit_get.cpp,
// limit_bandwidth.cpp); the best counts.
// Invariant: both sides of a channel use the same means, and messages are numbered from 1.
// Owner: the limit programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "limits.hpp"

namespace photon::perf {

// Messages in one direction, as one side sees them.
class Channel {
 public:
  struct Shape {
    std::uint32_t sender;   // index of the side that sends
    std::size_t slots = 1;  // places for messages; kWindow in a stream
    SpinForm spin = SpinForm::tight;
  };

  Channel(Team& team, const Buffers& buffers, Shape shape) noexcept
      : team_(&team), buffers_(&buffers), shape_(shape) {}

  const Buffers& buffers() const noexcept { return *buffers_; }
  std::size_t size_bytes() const noexcept { return buffers_->size_bytes; }
  bool is_sender() const noexcept { return team_->index() == shape_.sender; }
  std::size_t slots() const noexcept { return shape_.slots; }
  std::size_t slot_of(std::uint64_t number) const noexcept { return number % shape_.slots; }
  MeansArea& area() const noexcept { return team_->area().means[shape_.sender]; }
  SharedWord& arrived(std::uint64_t number) const noexcept {
    return area().arrived[slot_of(number)].line.flag;
  }
  SharedWord& ready(std::uint64_t number) const noexcept {
    return area().ready[slot_of(number)].line.flag;
  }

  // The sender's source and the receiver's landing; and, where mapped memory is used, the same
  // places as the other side sees them. Without mapped memory both are in the shared block.
  std::byte* source(std::uint64_t number) const noexcept {
    return buffers_->source_at(slot_of(number));
  }
  std::byte* landing(std::uint64_t number) const noexcept {
    return buffers_->landing[slot_of(number)];
  }
  std::byte* shared_source(std::uint64_t number) const noexcept {
    if (!buffers_->is_mapped) return in_block(number);
    return is_sender() ? source(number) : buffers_->mapped_source_at(slot_of(number));
  }
  std::byte* shared_landing(std::uint64_t number) const noexcept {
    if (!buffers_->is_mapped) return in_block(number);
    return is_sender() ? buffers_->mapped_landing[slot_of(number)] : landing(number);
  }

  // The receiver: until the sender has stored that value.
  void await(const SharedWord& word, std::uint64_t value) const noexcept {
    if (shape_.spin == SpinForm::tight) return spin_until_equal<SpinForm::tight>(word, value);
    if (shape_.spin == SpinForm::pause) return spin_until_equal<SpinForm::pause>(word, value);
    spin_until_equal<SpinForm::relaxed>(word, value);
  }

  // Of a ring: chunks pushed by the sender, or pulled by the receiver.
  std::uint64_t chunks = 0;

 private:
  // Two channels have one slot each, or one has all.
  std::byte* in_block(std::uint64_t number) const noexcept {
    const auto place = shape_.slots == 1 ? shape_.sender : slot_of(number);
    return team_->data().data() + place * buffers_->size_bytes;
  }

  Team* team_;
  const Buffers* buffers_;
  Shape shape_;
};

// By a flag the sender tells the receiver of message `number`.
inline void raise_flag(Channel& channel, std::uint64_t number) {
  channel.arrived(number).store_release(number);
}
inline void await_flag(Channel& channel, std::uint64_t number) {
  channel.await(channel.arrived(number), number);
}

struct Means {
  using Step = std::function<void(Channel&, std::uint64_t number)>;
  using Place = std::byte* (Channel::*)(std::uint64_t number) const noexcept;

  std::string name;
  std::string family;  // of means that differ in details
  Step send;           // the sender: until its source may be rewritten, or until `fetch` may begin
  Step await;          // the receiver: until the message is there, or may be fetched; or null
  Step fetch;          // the receiver, then: until the message is there; or null
  Place source = &Channel::source;    // which one to write
  Place landing = &Channel::landing;  // which one to read
  bool is_fetched = false;            // the receiver copies all, so that the sender need not act
  bool is_buffered = false;           // after `send` neither source nor landing is in use

  void receive(Channel& channel, std::uint64_t number) const {
    if (await) await(channel, number);
    if (fetch) fetch(channel, number);
  }
};

// Each file of means adds its own.
void add_stores(std::vector<Means>& all, std::size_t size_bytes);  // into mapped memory
void add_pulls(std::vector<Means>& all, std::size_t size_bytes);   // from mapped memory
void add_kernel_copies(std::vector<Means>& all);
void add_rings(std::vector<Means>& all, std::size_t size_bytes);

// All that there are for memory of that kind. Both members of the team call it.
std::vector<Means> means_for(Team& team, const Buffers& buffers, MemoryKind kind);

// The entries that run each of them by `run(means, count)`.
template <class Run>
std::vector<Entry> entries_of(std::vector<Means> all, Run run) {
  std::vector<Entry> entries;
  for (auto& means : all) {
    entries.push_back({means.name, [run, means](std::uint64_t count) { return run(means, count); },
                       means.family});
  }
  return entries;
}

// Both members call it before each run: no message has been sent, no chunk pushed, and the bytes
// are where `means` looks for them.
void begin(Team& team, const Means& means, const Channel& out);
// The same where no means are used, only flags of their area.
void begin(Team& team) noexcept;

}  // namespace photon::perf
