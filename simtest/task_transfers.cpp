#include "simtest/task_transfers.hpp"

#include <fmt/core.h>

#include <cstring>
#include <span>
#include <utility>

#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

// What travels with an offer.
struct Offer {
  std::uint64_t transfer;  // its place in the list
  ph_task_descriptor descriptor;
};

constexpr std::byte kUntouched{0xa5};

std::uint64_t draw_size(transport::sim::Random& random) {
  constexpr std::uint64_t kMost[] = {0, 100, 5000, 200'000};
  const std::uint64_t kind = random.up_to(9);
  return random.up_to(kMost[kind < 1 ? 0 : kind < 4 ? 1 : kind < 8 ? 2 : 3]);
}

}  // namespace

void TaskTransfers::must(ph_status status, const char* call) {
  if (status != PH_OK) oracle_.report(fmt::format("{}: {}", call, ph_status_text(status)));
}

void TaskTransfers::enroll(ph_task_pe* pe) {
  must(ph_task_register(pe, on_offer, this, &offer_handler_), "ph_task_register");
  must(ph_task_register(pe, on_done, this, &done_handler_), "ph_task_register");
}

void TaskTransfers::make(ph_task_pe* pe, Transfer& transfer, End& end, std::uint32_t registration,
                         std::uint32_t deregistration) {
  end.memory.assign(transfer.size_bytes, kUntouched);
  if (&end == &transfer.source)
    Pattern(Purpose::source, transfer.number).fill(std::span(end.memory));
  ph_task_buffer_args args{};
  args.size = sizeof args;
  args.address = end.memory.data();
  args.size_bytes = end.memory.size();
  args.registration = registration;
  args.deregistration = deregistration;
  args.source_done = args.destination_done = done_handler_;
  args.user = &transfer;
  must(ph_task_buffer_make(pe, &args, &end.buffer), "ph_task_buffer_make");
}

void TaskTransfers::offer(ph_task_pe* pe, std::uint32_t own, std::uint32_t other,
                          transport::sim::Random& random) {
  transfers_.push_back(std::make_unique<Transfer>());
  Transfer& transfer = *transfers_.back();
  transfer.all = this;
  transfer.number = random.next() >> 8;
  transfer.size_bytes = draw_size(random);
  transfer.is_get = random.up_to(1) == 0;
  transfer.offered().pe = own;
  transfer.issuing().pe = other;
  const auto draw = [&random] { return static_cast<std::uint32_t>(random.up_to(1)); };
  transfer.registration = draw();  // PH_TASK_REG or PH_TASK_UNREG
  transfer.deregistration = draw();
  const std::uint32_t registration = draw();
  make(pe, transfer, transfer.offered(), registration, draw());
  Offer offer{transfers_.size() - 1, {}};
  must(ph_task_buffer_describe(pe, transfer.offered().buffer, &offer.descriptor),
       "ph_task_buffer_describe");
  ph_task_message* message = nullptr;
  must(ph_task_alloc(pe, sizeof offer, &message), "ph_task_alloc");
  if (message == nullptr) return;
  std::memcpy(ph_task_body(message), &offer, sizeof offer);
  ph_task_set_handler(message, offer_handler_);
  const ph_status status = ph_task_send(pe, other, message);
  if (status != PH_OK && !oracle_.is_dead(other)) must(status, "ph_task_send");
}

void TaskTransfers::on_offer(ph_task_pe* pe, ph_task_message* message, void* user) {
  TaskTransfers& self = *static_cast<TaskTransfers*>(user);
  Offer offer{};
  std::memcpy(&offer, ph_task_body(message), sizeof offer);
  ph_task_free(pe, message);
  self.issue(pe, *self.transfers_[offer.transfer], offer.descriptor);
}

void TaskTransfers::issue(ph_task_pe* pe, Transfer& transfer,
                          const ph_task_descriptor& descriptor) {
  End& own = transfer.issuing();
  make(pe, transfer, own, transfer.registration, transfer.deregistration);
  if (transfer.is_begun) oracle_.report("an offer has come twice");
  transfer.is_begun = true;
  const ph_status status = transfer.is_get ? ph_task_get(pe, own.buffer, &descriptor)
                                           : ph_task_put(pe, own.buffer, &descriptor);
  transfer.is_accepted = status == PH_OK;
  if (!is_excused(transfer)) must(status, transfer.is_get ? "ph_task_get" : "ph_task_put");
  if (own.has_done) oracle_.report("a done ran inside the call");
}

void TaskTransfers::on_done(ph_task_pe* pe, ph_task_message* message, void*) {
  ph_task_done done{};
  std::memcpy(&done, ph_task_body(message), sizeof done);
  ph_task_free(pe, message);
  Transfer& transfer = *static_cast<Transfer*>(done.user);
  transfer.all->take(pe, transfer, done);
}

void TaskTransfers::take(ph_task_pe* pe, Transfer& transfer, const ph_task_done& done) {
  if (oracle_.is_quiet()) oracle_.report("a done has come when it was quiet");
  const bool is_source = done.side == PH_TASK_SOURCE;
  End& end = is_source ? transfer.source : transfer.destination;
  if (done.buffer != end.buffer) return oracle_.report("a done names another buffer");
  if (std::exchange(end.has_done, true)) return oracle_.report("a done has come twice");
  if (done.status != PH_OK && !is_excused(transfer))
    oracle_.report(fmt::format("a {} of {} bytes of PE {} with PE {} failed: {}",
                               transfer.is_get ? "get" : "put", transfer.size_bytes,
                               transfer.issuing().pe, transfer.offered().pe,
                               ph_status_text(done.status)));
  if (done.status == PH_OK && done.moved_bytes != transfer.size_bytes)
    oracle_.report(fmt::format("{} of {} bytes were moved, says a done", done.moved_bytes,
                               transfer.size_bytes));
  const Pattern pattern(Purpose::source, transfer.number);
  if (is_source)
    Pattern(Purpose::junk, transfer.number).fill(std::span(end.memory));  // it is ours again
  else if (const auto at = pattern.difference(std::span<const std::byte>(end.memory));
           done.status == PH_OK && at)
    oracle_.report(fmt::format("byte {} of {} is wrong", *at, transfer.size_bytes));
  must(ph_task_buffer_free(pe, end.buffer), "ph_task_buffer_free");
  if (transfer.source.has_done && transfer.destination.has_done) ++over_;
}

void TaskTransfers::quiet() {
  for (const auto& transfer : transfers_) {
    const std::uint32_t issuer = transfer->issuing().pe;
    if (transfer->is_accepted && !transfer->issuing().has_done && !oracle_.is_dead(issuer))
      oracle_.report(fmt::format("it is quiet, and PE {} has had no done of a {} with PE {}",
                                 issuer, transfer->is_get ? "get" : "put", transfer->offered().pe));
    if (is_excused(*transfer)) continue;
    if (transfer->source.has_done && transfer->destination.has_done) continue;
    oracle_.report(fmt::format("it is quiet, and a {} of {} bytes of PE {} with PE {} {}",
                               transfer->is_get ? "get" : "put", transfer->size_bytes,
                               transfer->issuing().pe, transfer->offered().pe,
                               transfer->is_begun ? "is not over" : "has not begun"));
  }
}

}  // namespace photon::simtest
