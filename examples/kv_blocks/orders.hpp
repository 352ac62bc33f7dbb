// Both sides of kv_blocks know this: orders, the mailboxes that they come to, and what stands in a
// block.
#pragma once

#include <photon/photon.h>

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace kv_blocks {

inline constexpr std::uint64_t kInbox = 1;    // of a prefill rank: what it is asked for
inline constexpr std::uint64_t kNotices = 2;  // of a decode rank: what was cancelled there
inline constexpr std::uint64_t kBlocks = 8;   // of a request
inline constexpr std::uint64_t kPool = 24;    // blocks of a decode rank
inline constexpr std::size_t kOrders = 64;    // buffers of an inbox
inline constexpr std::uint64_t kFree =
    0x5555'5555'5555'5555;  // what a block holds that nobody may touch

struct Options {
  std::uint64_t requests = 300;  // of each decode rank
  std::uint64_t block_bytes = 32 << 10;
  unsigned cancel_percent = 30;
  bool stops = false;
  bool is_unfenced = false;
};

inline void check(ph_status status, const char* what) {
  if (status < PH_OK) throw std::runtime_error(std::string(what) + ": " + ph_status_text(status));
}

// A decode rank asks for a block by it, and a prefill rank says by it which one it will not send.
struct Order {
  std::uint64_t request = 0;  // none: there will be no more
  std::uint64_t from = 0;
  std::uint64_t key = 0;  // --unfenced: where the blocks are
  std::array<std::uint64_t, kBlocks> places{};
};

inline std::uint64_t word_of(std::uint64_t request, std::uint64_t block, std::uint64_t at) {
  std::uint64_t word = request * 0x9e37'79b9'7f4a'7c15 + block * 0xc2b2'ae3d'27d4'eb4f + at;
  word ^= word >> 29;
  return word * 0xbf58'476d'1ce4'e5b9;
}

// ---- calls that are told to come again make progress meanwhile

template <class Call>
ph_status insist(ph_context* context, Call call) {
  for (;;) {
    const ph_status status = call();
    if (status != PH_AGAIN) return status;
    ph_completion done;
    std::size_t count = 0;
    static_cast<void>(ph_probe(context, {PH_ANY_RANK, PH_LOCAL, nullptr}, &done, 1, &count));
  }
}

inline ph_mailbox opened(ph_context* context, std::uint64_t address, ph_rank source) {
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.address = address;
  args.source = source;
  args.unit = PH_MAILBOX_OPERATIONS;
  ph_mailbox box{};
  check(ph_mailbox_open(context, &args, &box), "open");
  return box;
}

inline void post(ph_context* context, ph_mailbox box, std::span<std::byte> memory,
                 std::uint64_t cookie) {
  const ph_mailbox_buffer buffer{sizeof buffer, memory.data(), memory.size(), 1, nullptr, cookie};
  check(ph_mailbox_post(context, box, &buffer), "post");
}

inline ph_status send_order(ph_context* context, ph_rank to, std::uint64_t address,
                            const Order& order) {
  return insist(context, [&] {
    return ph_mailbox_put_u64(context, to, address, 0, {&order, sizeof order});
  });
}

// A mailbox for orders: each has a buffer of its own.
class Inbox {
 public:
  Inbox(ph_context* context, std::uint64_t address)
      : context_(context), box_(opened(context, address, PH_ANY_RANK)), orders_(kOrders) {
    for (Order& order : orders_)
      post(context_, box_, std::as_writable_bytes(std::span(&order, 1)), 0);
  }
  bool take(Order& order) {
    ph_mailbox_event event;
    if (ph_mailbox_take(context_, box_, &event) != PH_OK) return false;
    order = *static_cast<const Order*>(event.data);
    post(context_, box_, {static_cast<std::byte*>(event.data), sizeof order}, 0);
    return true;
  }

 private:
  ph_context* const context_;
  const ph_mailbox box_;
  std::vector<Order> orders_;
};

}  // namespace kv_blocks
