#include "classic_link.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "clock.hpp"
#include "failure.hpp"
#include "slots.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kBurst = 64;  // puts between two rounds of probing

// The callbacks of the classic exchange are told nothing, so where they look cannot hang from
// anything else.
Job* exchanging = nullptr;

int gather(void*, void* mine, void* all, int size_bytes) {
  return ph_allgather(exchanging->context(), mine, all, static_cast<std::size_t>(size_bytes));
}

int meet(void*) { return ph_barrier(exchanging->context()); }

[[noreturn, gnu::noinline, gnu::cold]] void fail(int status, const char* doing) {
  throw Failure(fmt::format("classic status {} while {}", status, doing));
}

// What follows is inlined, as its likes in streams.cpp are: a call is a store, and where lines are
// on their way to the peer it is stores that a stream waits for.
[[gnu::always_inline]] inline void check(int status, const char* doing) {
  if (status != PHOTON_OK) [[unlikely]]
    fail(status, doing);
}

}  // namespace

ClassicSession::ClassicSession(Job& job, const Options& options) {
  // It has no other way to be told.
  if (!options.transport.empty()) setenv("PHOTON_TRANSPORT", options.transport.c_str(), 1);
  setenv("PHOTON_OVERSUBSCRIBED", "no", 0);
  exchanging = &job;
  photon_config_t config{};
  config.address = static_cast<int>(job.rank());
  config.nproc = static_cast<int>(job.size());
  config.meta_exch = PHOTON_EXCH_EXTERNAL;
  config.exch.allgather = gather;
  config.exch.barrier = meet;
  check(photon_init(&config), "joining the job");
}

ClassicSession::~ClassicSession() {
  static_cast<void>(photon_finalize());
  exchanging = nullptr;
}

ClassicLink::ClassicLink(Team& team, std::size_t slots)
    : team_(&team), peer_(static_cast<int>(team.other())), words_(2 * slots) {
  const auto bytes = words_.size() * sizeof(std::uint64_t);
  check(photon_register_buffer(words_.data(), bytes), "registering memory");
  const photon_buffer_priv_t* keys = nullptr;
  check(photon_get_buffer_private(words_.data(), bytes, &keys), "asking for keys");
  const auto address_of = [](const std::uint64_t& word) {
    return reinterpret_cast<std::uintptr_t>(&word);
  };
  const photon_buffer_t mine{address_of(words_[slots]), bytes / 2, *keys};
  team.exchange(mine);
  const auto theirs = team.card_of<photon_buffer_t>(team.other());
  for (std::size_t slot = 0; slot < slots; ++slot) {
    sources_.push_back({address_of(words_[slot]), sizeof(std::uint64_t), *keys});
    targets_.push_back(
        {theirs.addr + slot * sizeof(std::uint64_t), sizeof(std::uint64_t), theirs.priv});
  }
  team.barrier();
}

ClassicLink::~ClassicLink() {
  static_cast<void>(photon_unregister_buffer(words_.data(), words_.size() * sizeof(std::uint64_t)));
}

[[gnu::always_inline]] inline void ClassicLink::put(std::uint64_t slot, std::uint64_t id) {
  const photon_cid name{{id}, 0};
  check(photon_put_with_completion(peer(), 8, &sources_[slot], &targets_[slot], name, name, 0),
        "putting");
}

[[gnu::always_inline]] inline void ClassicLink::notify(std::uint64_t id) {
  const photon_cid name{{id}, 0};
  check(photon_put_with_completion(peer(), 0, nullptr, nullptr, name, name, PHOTON_REQ_PWC_NO_LCE),
        "notifying");
}

// The peer of a remote id is never PHOTON_ANY_SOURCE, which is what a local one has.
[[gnu::always_inline]] inline bool ClassicLink::probe(Event& event) {
  int flag;
  int source;
  photon_cid id;
  const int status = photon_probe_completion(PHOTON_ANY_SOURCE, &flag, nullptr, &id, &source,
                                             nullptr, PHOTON_PROBE_ANY);
  check(status, "probing");
  if (flag == 0) return false;
  event = {source != PHOTON_ANY_SOURCE, id.u64};
  if (!event.is_remote) ++locals_;
  return true;
}

void ClassicLink::part() {
  team_->barrier_while([this] {
    Event event{};
    if (probe(event)) throw Failure("an id arrived out of turn");
  });
}

Outcome ClassicLink::ping_pong(std::uint64_t round_trips) {
  const bool first = team_->index() == 0;
  team_->barrier();
  Outcome outcome;
  const auto batches = batches_for(round_trips);
  const auto wanted = locals_ + batches.total();
  std::uint64_t sequence = 0;
  Event event{};
  const auto receive = [&] {
    do {
      while (!probe(event)) continue;
    } while (!event.is_remote);
    if (event.id == sequence && words_[slots()] == sequence) return;
    throw Failure(
        fmt::format("id {} came with {}, {} was due", event.id, words_[slots()], sequence));
  };
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      ++sequence;
      if (!first) receive();
      words_[0] = sequence;
      put(0, sequence);
      if (first) receive();
    }
    const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
    if (first) outcome.batches_ns.push_back(elapsed_ns / static_cast<double>(2 * batches.each));
  }
  while (locals_ < wanted) probe(event);
  part();
  return outcome;
}

void ClassicLink::send_stream(std::uint64_t count) {
  const auto slots_count = slots();
  Slots slot(slots_count);
  const auto locals_before = locals_;
  std::uint64_t posted = 0;
  std::uint64_t acknowledged = 0;
  while (acknowledged < count || locals_ - locals_before < count) {
    const auto done = std::min(acknowledged, locals_ - locals_before);
    const auto end = std::min({count, done + slots_count, posted + kBurst});
    for (; posted < end; ++posted) {
      words_[slot.now()] = posted;
      put(slot.now(), posted);
      slot.advance();
    }
    Event event{};
    for (std::uint64_t i = 0; i < kBurst + 1 && probe(event); ++i)
      if (event.is_remote) acknowledged = event.id;
  }
}

void ClassicLink::receive_stream(std::uint64_t count) {
  const auto slots_count = slots();
  Slots slot(slots_count);
  std::uint64_t sum = 0;
  std::uint64_t credited = 0;
  Event event{};
  for (std::uint64_t taken = 0; taken < count;) {
    if (!probe(event)) continue;
    if (event.id != taken)
      throw Failure(fmt::format("id {} arrived where {} was due", event.id, taken));
    sum += words_[slots_count + slot.now()];
    slot.advance();
    ++taken;
    if (taken - credited < kCreditInterval && taken < count) continue;
    notify(taken);
    credited = taken;
  }
  if (sum != count * (count - 1) / 2)
    throw Failure("the numbers that arrived are not the numbers that were sent");
}

Outcome ClassicLink::put_stream(std::uint64_t count) {
  team_->barrier();
  Outcome outcome;
  const auto start_ns = now_ns();
  if (team_->index() == 0) {
    send_stream(count);
    outcome.per_second =
        static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - start_ns);
  } else {
    receive_stream(count);
  }
  part();
  return outcome;
}

}  // namespace photon::perf
