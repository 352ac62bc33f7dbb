// The ways of a message from a rank to the other one, as mailbox_ways.cpp times them.
// Owner: who times them. All of a size share a Table; one is in use at a time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "rank.hpp"

namespace rvma_paper {

inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kPieces = 16;  // at most

struct FreeLines {
  void operator()(std::byte* data) const { std::free(data); }
};
using Lines = std::unique_ptr<std::byte[], FreeLines>;

inline Lines lines_of(std::size_t size_bytes) {
  const std::size_t rounded_bytes = (size_bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(kLineBytes, rounded_bytes));
  if (data == nullptr) throw std::runtime_error("no memory");
  std::memset(data, 0, rounded_bytes);
  return Lines(data);
}

// Completions of this rank: local ones are counted, and remote ones awaited in their
// order.
class Inbox {
 public:
  explicit Inbox(const Rank& rank) : rank_(rank) {}

  void poll() {
    const ph_u64_completion found = ph_probe_u64(rank_.context(), PH_ANY_RANK, PH_EITHER);
    rank_.check(static_cast<ph_status>(found.status), "probing");
    if (found.kind == PH_LOCAL) ++locals_;
    if (found.kind != PH_REMOTE) return;
    if (told_ == ids_.size()) throw std::runtime_error("more ids than the peer sends at a time");
    ids_[told_++] = found.id;
  }
  void await(std::uint64_t id) {
    while (taken_ == told_) poll();
    if (ids_[taken_++] != id) throw std::runtime_error("another id than the one that is awaited");
    if (taken_ == told_) taken_ = told_ = 0;
  }
  void expect_local() { ++expected_locals_; }
  void await_locals() {
    while (locals_ < expected_locals_) poll();
  }

 private:
  const Rank& rank_;
  std::uint64_t locals_ = 0;
  std::uint64_t expected_locals_ = 0;
  std::array<std::uint64_t, 2> ids_{};  // that came and were not awaited yet
  std::size_t told_ = 0, taken_ = 0;
};

// Both sides of all ways share this table for one size.
struct Table {
  const Rank& rank;
  Inbox& inbox;
  std::size_t size_bytes;
  Lines source = lines_of(size_bytes);

  template <class Call>
  void post(const char* doing, Call call) {
    rank.post(doing, call, [this] { inbox.poll(); });
  }
  void notify(std::uint64_t id) {
    post("a notification", [&] { return ph_notify(rank.context(), rank.peer(), id); });
  }
};

// A way: what a sender does, and what its receiver does until the message can be read. send() has
// returned before the source is rewritten, and recycle() is called when the message was read.
class Way {
 public:
  virtual ~Way() = default;
  virtual void send() = 0;
  virtual std::byte* receive() = 0;  // null: there is nothing to read
  virtual bool has_message() const { return true; }
  virtual void recycle() {}
  virtual void tidy() {}  // what is no part of the way, and is never timed
};

class Puts : public Way {
 public:
  enum Told { kById, kBehind, kFenced, kAcknowledged };

  Puts(Table& table, Told told) : table_(table), told_(told) {
    ph_region mine{}, all[2];
    const Rank& rank = table.rank;
    rank.check(ph_register(rank.context(), landing_.get(), table.size_bytes, PH_ACCESS_ALL, &mine),
               "registering");
    rank.check(ph_allgather(rank.context(), &mine, all, sizeof mine), "exchanging places");
    key_ = mine.key;
    target_ = ph_at(&all[rank.peer()], 0);
  }
  ~Puts() override { ph_unregister(table_.rank.context(), key_); }

  void send() override {
    const Rank& rank = table_.rank;
    table_.inbox.expect_local();
    if (told_ == kById || told_ == kBehind) {
      const ph_const_block source{table_.source.get(), table_.size_bytes};
      table_.post("a put", [&] {
        return ph_put_u64(rank.context(), rank.peer(), source, target_, {kId, kId});
      });
    } else {
      put_untold();
    }
    if (told_ != kById) table_.notify(kMessage);
  }
  std::byte* receive() override {
    if (told_ == kById || told_ == kBehind) table_.inbox.await(kId);
    if (told_ != kById) table_.inbox.await(kMessage);
    return landing_.get();
  }

 private:
  static constexpr std::uint64_t kId = 7, kMessage = 8;

  // The bytes of the put are in place before the notification behind it: there is a fence between
  // them, or the sender has waited for the put.
  void put_untold() {
    const Rank& rank = table_.rank;
    ph_put_args args{};
    args.size = sizeof args;
    args.source = table_.source.get();
    args.size_bytes = table_.size_bytes;
    args.target = target_;
    args.local = {&kId, sizeof kId};
    args.flags = PH_NO_RCE | (told_ == kAcknowledged ? PH_DELIVERED : 0);
    table_.post("a put", [&] { return ph_put(rank.context(), rank.peer(), &args); });
    if (told_ == kAcknowledged) return table_.inbox.await_locals();
    table_.post("a fence", [&] { return ph_fence(rank.context(), rank.peer()); });
  }

  Table& table_;
  const Told told_;
  Lines landing_ = lines_of(table_.size_bytes);
  std::uint64_t key_ = 0;
  ph_target target_{};
};

// A message to a mailbox, whole or in pieces of the given order; its two buffers take turns.
class Counted : public Way {
 public:
  Counted(Table& table, std::uint64_t address, std::vector<std::size_t> order)
      : table_(table),
        address_(address),
        order_(std::move(order)),
        carried_max_(table.rank.number_setting("mailbox_carried_max")) {
    ph_mailbox_args args{};
    args.address = address;
    args.threshold = table.size_bytes;
    box_ = open_mailbox(table.rank, args);
    for (Buffer& one : buffers_) {
      one.data = lines_of(table.size_bytes);
      post(one);
    }
  }
  ~Counted() override { ph_mailbox_close(table_.rank.context(), box_); }

  void send() override {
    const std::size_t piece_bytes = table_.size_bytes / order_.size();
    std::array<ph_request, kPieces> requests{};
    for (std::size_t i = 0; i < order_.size(); ++i)
      requests[i] = send_piece(order_[i] * piece_bytes, piece_bytes);
    for (std::size_t i = 0; i < order_.size(); ++i)
      table_.rank.check(verdict_of(table_.rank, requests[i]), "the verdict on a message");
  }
  std::byte* receive() override {
    Buffer& one = buffers_[taken_ % buffers_.size()];
    const ph_mailbox_event event = next_event(table_.rank, box_);
    if (event.data != one.data.get() || one.pointer.address != event.data ||
        one.pointer.size_bytes != table_.size_bytes)
      throw std::runtime_error("a completion pointer that is wrong");
    return one.data.get();
  }
  void recycle() override {
    Buffer& one = buffers_[taken_++ % buffers_.size()];
    one.pointer = {};
    post(one);
  }

 private:
  struct Buffer {
    alignas(kLineBytes) ph_mailbox_pointer pointer{};
    Lines data;
  };

  void post(Buffer& one) {
    post_buffer(table_.rank, box_, one.data.get(), table_.size_bytes, &one.pointer);
  }
  // A carried one is over when the call returns, or goes out with later progress from elsewhere.
  ph_request send_piece(std::uint64_t offset, std::size_t bytes) {
    const Rank& rank = table_.rank;
    const ph_const_block source{table_.source.get() + offset, bytes};
    if (bytes > carried_max_) return start_message(rank, ph_mailbox_put, address_, offset, source);
    table_.post("a message to a mailbox", [&] {
      return ph_mailbox_put_u64(rank.context(), rank.peer(), address_, offset, source);
    });
    return PH_REQUEST_NONE;
  }

  Table& table_;
  const std::uint64_t address_;
  const std::vector<std::size_t> order_;
  const std::uint64_t carried_max_;
  ph_mailbox box_{};
  std::array<Buffer, 2> buffers_;
  std::uint64_t taken_ = 0;
};

// The exchange that RDMA has before the first put: the owner registers memory and tells its place.
class Setup : public Way {
 public:
  explicit Setup(Table& table) : table_(table) {
    ph_region mine{}, all[2];
    const Rank& rank = table.rank;
    rank.check(ph_register(rank.context(), &answer_, sizeof answer_, PH_ACCESS_ALL, &mine),
               "registering");
    rank.check(ph_allgather(rank.context(), &mine, all, sizeof mine), "exchanging places");
    key_ = mine.key;
    target_ = ph_at(&all[rank.peer()], 0);
  }
  ~Setup() override { ph_unregister(table_.rank.context(), key_); }

  bool has_message() const override { return false; }
  void send() override {
    table_.notify(kAsk);
    table_.inbox.await(kAnswer);
    if (answer_.size_bytes != table_.size_bytes) throw std::runtime_error("a wrong place");
  }
  std::byte* receive() override {
    const Rank& rank = table_.rank;
    table_.inbox.await(kAsk);
    rank.check(ph_register(rank.context(), memory_.get(), table_.size_bytes, PH_ACCESS_ALL, &own_),
               "registering");
    table_.inbox.expect_local();
    table_.post("an answer", [&] {
      return ph_put_u64(rank.context(), rank.peer(), {&own_, sizeof own_}, target_,
                        {kAnswer, kAnswer});
    });
    return nullptr;
  }
  void tidy() override {
    table_.inbox.await_locals();
    table_.rank.check(ph_revoke(table_.rank.context(), own_.key), "taking memory back");
  }

 private:
  static constexpr std::uint64_t kAsk = 1, kAnswer = 2;

  Table& table_;
  Lines memory_ = lines_of(table_.size_bytes);
  ph_region answer_{}, own_{};
  std::uint64_t key_ = 0;
  ph_target target_{};
};

}  // namespace rvma_paper
