// A part of the ring of cells, at the rank that computes it.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <span>

#include "history.hpp"

namespace rewind_example {

class Part {
 public:
  // At the beginning.
  Part(ph_context* context, const Options& options, std::uint32_t number)
      : context_(context),
        options_(options),
        number_(number),
        spare_(options.parts),
        halos_(context, kHalos + number, sizeof(Halo), 2, options.kept()) {
    for (Slot& slot : slots_) slot.field.resize(options.cells);
    for (std::uint64_t i = 0; i < options.cells; ++i) {
      const double at = static_cast<double>(number * options.cells + i);
      slots_[1].field[i] = 0.5 + 0.4 * std::sin(at * 0.37) * std::cos(at * at * 0.011);
    }
  }
  // Of a rank that was lost: `state` is what its step `step` had left.
  Part(ph_context* context, const Options& options, std::uint32_t number, std::uint64_t step,
       const void* state)
      : Part(context, options, number) {
    halos_.begin_after(step);
    step_ = step + 1;
    std::memcpy(slot_of(step).field.data(), state, state_bytes());
  }

  std::uint32_t number() const { return number_; }

  // What the spare has to know before it says go.
  News ready() const {
    News news;
    news.kind = News::ready;
    news.part = number_;
    news.refused = refused_;
    news.place = {ph_rank_of(context_), halos_.incarnation()};
    return news;
  }

  void go(const News& news) {
    left_ = news.left;
    right_ = news.right;
    saved_ = news.saved;
    is_running_ = true;
    send_halos();
    go_on();
  }

  // An event of the halos' mailbox: both neighbours' cells of this step may be there.
  void take(const ph_mailbox_event& event) {
    halos_.take(event);
    go_on();
  }

  // `step` is the last one again. Messages of the lost past name an incarnation that is over, so
  // they are refused however late they come; without it, two of the same halo would be counted.
  void rewind(std::uint64_t step) {
    is_running_ = false;
    halos_.rewind(step);
    for (Slot& slot : slots_) settle(slot);
    ph_request request = PH_REQUEST_NONE;
    ph_mailbox_get_args args{};
    args.size = sizeof args;
    args.address = kSaved + number_;
    args.destination = slot_of(step).field.data();
    args.size_bytes = state_bytes();
    args.epoch = step;
    args.request = &request;
    check(insist(context_, [&] { return ph_mailbox_get(context_, spare_, &args); }), "a get");
    check(verdict_of(context_, request), "the state of the step that all have");
    step_ = step + 1;
  }

 private:
  struct Halo {
    double left;
    double right;
  };
  // What a step has left, and the messages that are read from it: of the state, and of the next
  // step's halos. Steps take turns with two of them.
  struct Slot {
    std::vector<double> field;
    ph_request saved = PH_REQUEST_NONE;
    ph_request left = PH_REQUEST_NONE;
    ph_request right = PH_REQUEST_NONE;
  };

  std::size_t state_bytes() const { return options_.cells * sizeof(double); }
  Slot& slot_of(std::uint64_t step) { return slots_[step % slots_.size()]; }

  void put(const Place& to, std::uint64_t address, std::uint64_t offset,
           std::span<const double> source, ph_request& request) {
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = address;
    args.offset = offset;
    args.source = source.data();
    args.size_bytes = source.size_bytes();
    args.epoch = step_;
    args.incarnation = to.incarnation;
    args.request = &request;
    const ph_status status =
        insist(context_, [&] { return ph_mailbox_put(context_, to.rank, &args); });
    expect(status, to.rank);
  }

  // A neighbour that is lost will be made good: the spare says when.
  void expect(ph_status status, ph_rank rank) {
    if (status == PH_ERR_EPOCH)
      ++refused_;
    else if (status != PH_ERR_PEER && status != PH_ERR_DEPARTED)
      check(status, "a message");
    else if (rank == spare_)
      throw std::runtime_error("the spare was lost");
  }

  // Its messages have come, or were refused, or went to a rank that is lost: it may change.
  void settle(Slot& slot) {
    expect(verdict_of(context_, slot.saved), spare_);
    expect(verdict_of(context_, slot.left), left_.rank);
    expect(verdict_of(context_, slot.right), right_.rank);
  }

  void send_halos() {
    if (step_ > options_.steps) return;
    Slot& slot = slot_of(step_ + 1);  // of the step before
    die_behind(0);
    put(left_, kHalos + left_neighbour(), offsetof(Halo, right), {slot.field.data(), 1}, slot.left);
    die_behind(1);
    put(right_, kHalos + right_neighbour(), offsetof(Halo, left), {&slot.field.back(), 1},
        slot.right);
    die_behind(2);
  }

  // Neighbours that were told to go before this part may have sent already.
  void go_on() {
    while (is_running_ && step_ < halos_.complete())
      compute(*static_cast<const Halo*>(halos_.at(step_)));
  }

  void compute(const Halo& halo) {
    const std::vector<double>& old = slot_of(step_ + 1).field;
    Slot& slot = slot_of(step_);
    settle(slot);
    if (step_ == 0) {  // the initial state: nothing can be made good before all have saved it
      slot.field = old;
    } else {
      for (std::size_t i = 0; i < old.size(); ++i) {
        const double left = i == 0 ? halo.left : old[i - 1];
        const double right = i + 1 == old.size() ? halo.right : old[i + 1];
        slot.field[i] = old[i] + 0.2 * (left - 2 * old[i] + right) + 0.05 * old[i] * (1 - old[i]);
      }
    }
    put({spare_, saved_}, kSaved + number_, 0, slot.field, slot.saved);
    die_behind(3);
    if (step_ == 0) {
      check(verdict_of(context_, slot.saved), "saving the initial state");
      check(ph_barrier(context_), "barrier");
    }
    ++step_;
    send_halos();
  }

  std::uint32_t left_neighbour() const { return (number_ + options_.parts - 1) % options_.parts; }
  std::uint32_t right_neighbour() const { return (number_ + 1) % options_.parts; }

  // Only the rank that had the part first: the spare lives.
  void die_behind(std::uint64_t point) const {
    if (options_.killed == number_ && options_.at == step_ && options_.point == point &&
        ph_rank_of(context_) == number_)
      ::kill(::getpid(), SIGKILL);
  }

  ph_context* const context_;
  const Options& options_;
  const std::uint32_t number_;
  const ph_rank spare_;
  History halos_;
  std::array<Slot, 2> slots_;
  std::uint64_t step_ = 0;  // the one that is computed when its halos are there
  bool is_running_ = false;
  Place left_, right_;
  std::uint32_t saved_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace rewind_example
