// A prefill rank fills blocks and sends them.
#pragma once

#include <random>

#include "orders.hpp"

namespace kv_blocks {

class Prefill {
 public:
  Prefill(ph_context* context, const Options& options, ph_rank decodes)
      : context_(context), options_(options), left_(decodes), inbox_(context, kInbox) {}

  void run() {
    for (Order order; left_ != 0;) {
      if (!inbox_.take(order)) continue;
      if (order.request == 0)
        --left_;
      else
        serve(order);
    }
  }
  std::uint64_t refused() const { return refused_; }

 private:
  void serve(const Order& order) {
    const bool cancels = random_() % 100 < options_.cancel_percent;
    const std::uint64_t count = cancels ? random_() % kBlocks : kBlocks;
    std::vector<std::vector<std::uint64_t>> blocks(count);
    std::vector<ph_request> requests(count, PH_REQUEST_NONE);
    const auto to = static_cast<ph_rank>(order.from);
    for (std::uint64_t i = 0; i < count; ++i) {
      blocks[i].resize(options_.block_bytes / sizeof(std::uint64_t));
      for (std::uint64_t at = 0; at < blocks[i].size(); ++at)
        blocks[i][at] = word_of(order.request, i, at);
      const ph_status status = insist(context_, [&] {
        return options_.is_unfenced ? put_there(to, order, i, blocks[i], requests[i])
                                    : put(to, order, i, blocks[i], requests[i]);
      });
      if (status != PH_OK) break;
    }
    for (ph_request& request : requests) {  // its block is not ours before
      ph_result result;
      if (ph_wait_request(context_, &request, &result, PH_FOREVER) < PH_OK) ++refused_;
    }
    if (cancels) static_cast<void>(send_order(context_, to, kNotices, order));
  }
  ph_status put(ph_rank to, const Order& order, std::uint64_t block,
                const std::vector<std::uint64_t>& words, ph_request& request) {
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = order.request;
    args.source = words.data();
    args.size_bytes = options_.block_bytes;
    args.epoch = block;  // the block that it is, or none
    args.request = &request;
    return ph_mailbox_put(context_, to, &args);
  }
  ph_status put_there(ph_rank to, const Order& order, std::uint64_t block,
                      const std::vector<std::uint64_t>& words, ph_request& request) {
    const std::uint64_t id = order.request * kBlocks + block;
    ph_put_args args{};
    args.size = sizeof args;
    args.source = words.data();
    args.size_bytes = options_.block_bytes;
    args.target = {order.places[block], order.key};
    args.remote = {&id, sizeof id};
    args.request = &request;
    return ph_put(context_, to, &args);
  }

  ph_context* const context_;
  const Options& options_;
  ph_rank left_;
  Inbox inbox_;
  std::mt19937_64 random_{ph_rank_of(context_) + 1};
  std::uint64_t refused_ = 0;
};

}  // namespace kv_blocks
