// News of both sides, and one sleep for both.
#include <utility>

#include "base/clock.hpp"
#include "transport/mixed/mixed_transport_impl.hpp"
#include "transport/poll_sleepers.hpp"

namespace photon::transport::mixed {

// Passes on what a child says of the ranks of its side; whoever speaks there under the number of a
// rank of the other side is not heard. Fragments are the far side's alone.
class MixedTransport::Report final : public Sink {
 public:
  Report(MixedTransport& transport, Sink& sink, bool is_far) noexcept
      : transport_(transport), sink_(sink), is_far_(is_far) {}

  bool had_news() const noexcept { return had_news_; }

  void on_link(Rank rank) override {
    if (!is_mine(rank)) return;
    transport_.meets_[rank] = Meets::linked;
    transport_.failures_.erase(rank);  // of a first attempt
    sink_.on_link(rank);
  }
  void on_activity(Rank rank) override {
    if (is_mine(rank)) sink_.on_activity(rank);
  }
  void on_gone(Rank rank, const base::Error& why) override {
    if (!is_mine(rank)) return;
    transport_.not_met(rank, why);
    sink_.on_gone(rank, why);
  }
  void on_done(std::uint64_t token, ph_status status) override {
    had_news_ = true;
    sink_.on_done(token, status);
  }
  void on_fragment(Rank from, std::uint32_t imm) override {
    if (from == PH_ANY_RANK || is_mine(from)) sink_.on_fragment(from, imm);
  }

 private:
  bool is_mine(Rank rank) noexcept {
    if (rank >= transport_.meets_.size() || transport_.is_far(rank) != is_far_) return false;
    had_news_ = true;
    return true;
  }

  MixedTransport& transport_;
  Sink& sink_;
  const bool is_far_;
  bool had_news_ = false;
};

void MixedTransport::poll(Sink& sink) noexcept {
  Report near_report(*this, sink, false);
  near().poll(near_report);
  if (due_.get() != 0) {
    due_.set(0);
    pace_.ask();
  }
  if (!pace_.poll(base::now_ns())) return;
  Report far_report(*this, sink, true);
  far().poll(far_report);
  pace_.looked(base::now_ns(), far_report.had_news());
}

void MixedTransport::arm() noexcept {
  near().arm();
  far().arm();
  pace_.ask();
}

// The look that follows is one at both sides: whatever ended the sleep.
void MixedTransport::sleep(std::int64_t timeout_us) noexcept {
  poll_sleepers(sleepers(), timeout_us);
  slept(0);
}

void MixedTransport::disarm() noexcept {
  near().disarm();
  far().disarm();
}

}  // namespace photon::transport::mixed
