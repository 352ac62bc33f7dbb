// A decode rank has blocks filled, and takes them back at any time.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <random>
#include <set>
#include <utility>

#include "orders.hpp"

namespace kv_blocks {

class Decode {
 public:
  Decode(ph_context* context, const Options& options, std::vector<pid_t> prefills)
      : context_(context),
        options_(options),
        prefills_(std::move(prefills)),
        notices_(context, kNotices) {
    check(ph_alloc(context_, kPool * options_.block_bytes, &region_), "alloc");
    memory_ = reinterpret_cast<std::byte*>(region_.address);
    for (std::uint64_t i = 0; i < kPool; ++i) give_back(i);
  }

  void run() {
    for (std::uint64_t i = 0; i < options_.requests; ++i) ask(i);
    for (ph_rank rank = 0; rank < prefills_.size(); ++rank)
      static_cast<void>(send_order(context_, rank, kInbox, {}));
  }
  std::uint64_t filled() const { return filled_; }
  std::uint64_t cancelled() const { return cancelled_; }
  std::uint64_t corrupted() const { return corrupted_; }

 private:
  std::span<std::uint64_t> words(std::uint64_t block) const {
    return {reinterpret_cast<std::uint64_t*>(memory_ + block * options_.block_bytes),
            options_.block_bytes / sizeof(std::uint64_t)};
  }
  // It belongs to nobody, and nothing may write to it before it is posted again.
  void give_back(std::uint64_t block) {
    std::ranges::fill(words(block), kFree);
    pool_.push_back(block);
  }
  std::uint64_t take_block() {
    const std::uint64_t block = pool_.front();
    pool_.pop_front();
    const auto is_free = [](std::uint64_t word) { return word == kFree; };
    if (!std::ranges::all_of(words(block), is_free)) ++corrupted_;
    return block;
  }
  void expect(std::uint64_t request, std::uint64_t at, std::uint64_t block) {
    ++filled_;
    const auto found = words(block);
    for (std::uint64_t i = 0; i < found.size(); ++i) {
      if (found[i] == word_of(request, at, i)) continue;
      ++corrupted_;
      return;
    }
  }

  void ask(std::uint64_t number) {
    const auto prefill = static_cast<ph_rank>(random_() % prefills_.size());
    Order order;
    order.from = ph_rank_of(context_);
    order.request = (order.from + 1) << 32 | (number + 1);
    order.key = region_.key;
    std::vector<std::uint64_t> blocks(kBlocks);
    for (std::uint64_t& block : blocks) block = take_block();
    for (std::uint64_t i = 0; i < kBlocks; ++i)
      order.places[i] = region_.address + blocks[i] * options_.block_bytes;
    // After so many blocks this side has enough of it.
    const bool cancels = random_() % 100 < options_.cancel_percent;
    const std::uint64_t wanted = cancels ? random_() % kBlocks : kBlocks;
    is_stopped_ = options_.stops && number % 16 == 3;
    patience_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    if (is_stopped_) ::kill(prefills_[prefill], SIGSTOP);
    if (options_.is_unfenced)
      have_written(prefill, order, blocks, wanted);
    else
      have_mailed(prefill, order, blocks, wanted);
    if (is_stopped_) ::kill(prefills_[prefill], SIGCONT);
  }

  void have_mailed(ph_rank prefill, const Order& order, const std::vector<std::uint64_t>& blocks,
                   std::uint64_t wanted) {
    const ph_mailbox box = opened(context_, order.request, prefill);
    for (const std::uint64_t block : blocks)
      post(context_, box, std::as_writable_bytes(words(block)), block);
    check(send_order(context_, prefill, kInbox, order), "order");
    std::uint64_t got = 0;
    for (bool goes_on = wanted != 0; goes_on;) {
      ph_mailbox_event event;
      if (ph_mailbox_take(context_, box, &event) == PH_OK) {
        expect(order.request, got++, event.cookie);
        give_back(event.cookie);
      }
      goes_on = got < wanted && !is_over(prefill, order.request);
    }
    if (got < kBlocks) ++cancelled_;
    check(ph_mailbox_close(context_, box), "close");
    for (ph_mailbox_event event;;) {  // those that are left, at once
      const ph_status status = ph_mailbox_take(context_, box, &event);
      if (status == PH_ERR_STATE) return;
      if (status != PH_OK) continue;
      if (event.why == PH_MAILBOX_COMPLETE) expect(order.request, event.epoch, event.cookie);
      give_back(event.cookie);
    }
  }
  void have_written(ph_rank prefill, const Order& order, const std::vector<std::uint64_t>& blocks,
                    std::uint64_t wanted) {
    check(send_order(context_, prefill, kInbox, order), "order");
    std::uint64_t got = 0;
    while (got < wanted && !is_over(prefill, order.request)) {
      ph_completion done;
      std::size_t count = 0;
      check(ph_probe(context_, {prefill, PH_REMOTE, nullptr}, &done, 1, &count), "probe");
      if (count == 0 || done.id / kBlocks != order.request) continue;
      expect(order.request, done.id % kBlocks, blocks[done.id % kBlocks]);
      ++got;
    }
    if (got < kBlocks) ++cancelled_;
    for (const std::uint64_t block : blocks) give_back(block);
  }
  // It was cancelled by the other side, or that is lost.
  bool is_over(ph_rank prefill, std::uint64_t request) {
    Order notice;
    while (notices_.take(notice)) over_.insert(notice.request);
    ph_contact_state state = PH_PEER_UNKNOWN;
    check(ph_peer_state(context_, prefill, &state), "peer state");
    return over_.contains(request) || state >= PH_PEER_DEPARTED ||
           (is_stopped_ && std::chrono::steady_clock::now() > patience_);
  }

  ph_context* const context_;
  const Options& options_;
  const std::vector<pid_t> prefills_;
  Inbox notices_;
  ph_region region_{};
  std::byte* memory_ = nullptr;
  std::deque<std::uint64_t> pool_;
  std::set<std::uint64_t> over_;  // requests that the other side has cancelled
  bool is_stopped_ = false;       // the other side, by us
  std::chrono::steady_clock::time_point patience_;
  std::mt19937_64 random_{ph_rank_of(context_) + 1};
  std::uint64_t filled_ = 0;
  std::uint64_t cancelled_ = 0;
  std::uint64_t corrupted_ = 0;
};

}  // namespace kv_blocks
