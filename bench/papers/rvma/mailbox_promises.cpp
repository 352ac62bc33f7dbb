// This program counts what sections III and IV of the paper on RVMA promise the owner of a mailbox:
// rank 0 sends to mailboxes of rank 1, which looks at every byte. Each prints what it
// has found as lines of JSON.
//
//   photonrun -n 2 mailbox_promises [MESSAGES]
//
//   late     the owner closes its mailbox in the middle of a buffer; so many messages come later
//   early    the owner takes half a buffer back; the other half lands in the next one
//   bucket   each message completes a buffer; the sender knows one address and hears of no buffer
//   managed  the sender names no place; the receiver puts messages one behind the other
#include <algorithm>
#include <vector>

#include "rank.hpp"

namespace rvma_paper {
namespace {

constexpr std::size_t kPart_bytes = 256;
constexpr std::uint64_t kLate = 1, kEarly = 2, kBucket = 3, kManaged = 4;

using Part = std::vector<std::byte>;

Part part_of(std::uint64_t number) {
  return Part(kPart_bytes, static_cast<std::byte>(number % 251 + 1));
}

// Returns how many of `count` parts, of which `first` is the first, are not as they were sent.
std::uint64_t wrong_parts(const std::byte* data, std::uint64_t first, std::uint64_t count) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Part part = part_of(first + i);
    if (!std::equal(part.begin(), part.end(), data + i * kPart_bytes)) ++wrong;
  }
  return wrong;
}

class Promises {
 public:
  Promises(const Rank& rank, std::uint64_t messages) : rank_(rank), messages_(messages) {}

  void keep_late_writers_out() {
    const std::uint64_t half = messages_ / 2;
    std::vector<std::byte> memory(messages_ * kPart_bytes);
    const ph_mailbox box = open(kLate, memory.size());
    if (is_owner()) post_buffer(rank_, box, memory.data(), memory.size(), nullptr);
    rank_.barrier();
    send(kLate, 0, half);
    rank_.barrier();
    if (is_owner()) {
      rank_.check(ph_mailbox_close(rank_.context(), box), "closing a mailbox");
      const ph_mailbox_event event = next_event(rank_, box);
      add("late: bytes that had come", half * kPart_bytes, event.bytes);
      std::fill(memory.begin(), memory.end(), std::byte{0});  // it is the owner's again
    }
    rank_.barrier();
    const std::uint64_t refused = send(kLate, half, messages_ - half);
    if (!is_owner()) add("late: messages refused", messages_ - half, refused);
    rank_.barrier();
    if (!is_owner()) return;
    const auto kept = std::count(memory.begin(), memory.end(), std::byte{0});
    add("late: bytes changed after it", 0, memory.size() - static_cast<std::size_t>(kept));
  }

  void take_a_buffer_back() {
    const std::uint64_t half = messages_ / 2;
    std::vector<std::byte> first(messages_ * kPart_bytes), second(messages_ * kPart_bytes);
    const ph_mailbox box = open(kEarly, first.size());
    if (is_owner()) {
      post_buffer(rank_, box, first.data(), first.size(), nullptr);
      post_buffer(rank_, box, second.data(), second.size(), nullptr);
    }
    rank_.barrier();
    send(kEarly, 0, half);
    rank_.barrier();
    if (is_owner()) {
      rank_.check(ph_mailbox_inc_epoch(rank_.context(), box), "taking a buffer back");
      const ph_mailbox_event event = next_event(rank_, box);
      add("early: bytes in the one taken back", half * kPart_bytes, event.bytes);
    }
    rank_.barrier();
    send(kEarly, half, half);
    rank_.barrier();
    if (!is_owner()) return;
    add("early: parts in a wrong buffer", 0,
        wrong_parts(first.data(), 0, half) +
            wrong_parts(second.data() + half * kPart_bytes, half, half));
    close(box);
  }

  void fill_a_bucket() {
    std::vector<std::byte> memory(messages_ * kPart_bytes);
    const ph_mailbox box = open(kBucket, kPart_bytes);
    if (is_owner())
      for (std::uint64_t i = 0; i < messages_; ++i)
        post_buffer(rank_, box, memory.data() + i * kPart_bytes, kPart_bytes, nullptr);
    rank_.barrier();
    if (!is_owner()) {
      for (std::uint64_t i = 0; i < messages_; ++i)
        rank_.check(send_one(ph_mailbox_put, kBucket, 0, i), "a message");
      return;
    }
    std::uint64_t in_order = 0;
    for (std::uint64_t i = 0; i < messages_; ++i)
      if (next_event(rank_, box).data == memory.data() + i * kPart_bytes) ++in_order;
    add("bucket: buffers complete in order", messages_, in_order);
    add("bucket: wrong messages", 0, wrong_parts(memory.data(), 0, messages_));
    close(box);
  }

  void let_the_receiver_place() {
    std::vector<std::byte> memory(messages_ * kPart_bytes);
    ph_mailbox_args args{};
    args.address = kManaged;
    args.threshold = memory.size();
    args.placing = PH_MAILBOX_MANAGED;
    ph_mailbox box{};
    if (is_owner()) {
      box = open_mailbox(rank_, args);
      post_buffer(rank_, box, memory.data(), memory.size(), nullptr);
    }
    rank_.barrier();
    if (!is_owner()) {
      for (std::uint64_t i = 0; i < messages_; ++i)
        rank_.check(send_one(ph_mailbox_append, kManaged, 0, i), "a message");
      return;
    }
    add("managed: bytes landed", memory.size(), next_event(rank_, box).bytes);
    add("managed: wrong messages", 0, wrong_parts(memory.data(), 0, messages_));
    close(box);
  }

 private:
  // The buffers of a closed mailbox come back, so that they may go out of scope.
  void close(ph_mailbox box) const {
    rank_.check(ph_mailbox_close(rank_.context(), box), "closing a mailbox");
  }
  bool is_owner() const { return !rank_.is_first(); }
  ph_mailbox open(std::uint64_t address, std::uint64_t threshold) const {
    ph_mailbox_args args{};
    args.address = address;
    args.threshold = threshold;
    return is_owner() ? open_mailbox(rank_, args) : ph_mailbox{};
  }
  // The verdict on a message of a part; only the sender sends.
  template <class Send>
  ph_status send_one(Send send, std::uint64_t address, std::uint64_t place, std::uint64_t number) {
    const Part part = part_of(number);
    const ph_const_block source{part.data(), part.size()};
    return verdict_of(rank_, start_message(rank_, send, address, place * kPart_bytes, source));
  }
  // Parts from `first` on, each in its place. So many were refused, as of a mailbox that is closed.
  std::uint64_t send(std::uint64_t address, std::uint64_t first, std::uint64_t count) {
    std::uint64_t refused = 0;
    for (std::uint64_t i = first; !is_owner() && i < first + count; ++i) {
      const ph_status status = send_one(ph_mailbox_put, address, i, i);
      if (status != PH_ERR_NOT_FOUND) rank_.check(status, "a message");
      if (status == PH_ERR_NOT_FOUND) ++refused;
    }
    return refused;
  }
  // Each rank prints what it has found, in a line of its own.
  void add(const char* name, std::uint64_t expected, std::uint64_t found) const {
    std::printf("{\"promise\": \"%s\", \"expected\": %llu, \"found\": %llu}\n", name,
                static_cast<unsigned long long>(expected), static_cast<unsigned long long>(found));
  }

  const Rank& rank_;
  const std::uint64_t messages_;
};

}  // namespace
}  // namespace rvma_paper

int main(int argc, char** argv) {
  using namespace rvma_paper;
  try {
    const std::uint64_t messages = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 64;
    if (messages < 2 || messages % 2 != 0) throw std::runtime_error("an even number of messages");
    const Rank rank;
    Promises promises(rank, messages);
    promises.keep_late_writers_out();
    promises.take_a_buffer_back();
    promises.fill_a_bucket();
    promises.let_the_receiver_place();
    rank.finish();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mailbox_promises: %s\n", error.what());
    return 1;
  }
}
