// A port that hands everything on to the engine's own, for services that break their promises on
// purpose: it says all of a service's messages by say(), where they can be lost.
// Owner: the service that it was made for. Threads: one.
#pragma once

#include <new>

#include "service/service.hpp"

namespace photon::simtest {

class PassingPort : public service::Port {
 public:
  using Rank = transport::Rank;

  PassingPort(wire::Owner owner, Port& real) noexcept : Port(owner), real_(real) {}

  bool give_up(std::uint64_t handle) noexcept override { return real_.give_up(handle); }
  void revoke(service::Exposed& exposed) noexcept override { real_.revoke(exposed); }
  bool forget(service::Exposed& exposed, Rank user) noexcept override {
    return real_.forget(exposed, user);
  }
  void fence() noexcept override { real_.fence(); }
  ph_status can_store_here(Rank rank) const noexcept override { return real_.can_store_here(rank); }
  ph_status store(Rank to, const ph_target& at, std::span<const std::byte> bytes) override {
    return real_.store(to, at, bytes);
  }
  ph_status expose_alone(std::span<const std::byte> memory, std::uint32_t access,
                         service::Exposed& exposed) override {
    return real_.expose_alone(memory, access, exposed);
  }
  ph_status reserve(Rank to, std::uint64_t size_bytes, std::span<std::byte>& room) override {
    return real_.reserve(to, size_bytes, room);
  }
  void fill(Rank to, std::byte* at, std::span<const std::byte> bytes) noexcept override {
    real_.fill(to, at, bytes);
  }
  ph_status commit(const service::Saying& what, std::uint64_t size_bytes) override {
    return real_.commit(what, size_bytes);
  }
  void cancel_room(Rank to) noexcept override { real_.cancel_room(to); }
  void report_late(Rank rank, std::uint64_t local_id, ph_status status,
                   const char* why) noexcept override {
    real_.report_late(rank, local_id, status, why);
  }
  void note_unheard(Rank rank, ph_status status, const char* why) noexcept override {
    real_.note_unheard(rank, status, why);
  }
  void note_lost(Rank rank) noexcept override { real_.note_lost(rank); }
  bool is_here(Rank rank) const noexcept override { return real_.is_here(rank); }
  Rank host_of(Rank rank) const noexcept override { return real_.host_of(rank); }
  bool runs_now() const noexcept override { return real_.runs_now(); }
  bool is_in_run() const noexcept override { return real_.is_in_run(); }
  bool is_beside_caller() const noexcept override { return real_.is_beside_caller(); }
  void wants_company() noexcept override { real_.wants_company(); }

  ph_status say(const service::Saying& what, std::uint64_t* ticket) override {
    return real_.say(what, ticket);
  }
  bool unsay(Rank to, std::uint64_t ticket) noexcept override { return real_.unsay(to, ticket); }
  ph_status say_body(const service::Saying& what, std::span<const std::byte> body,
                     std::uint64_t token) override {
    return real_.say_body(what, body, token);
  }
  void give_back(Rank from, std::uint64_t loan) override { real_.give_back(from, loan); }
  std::uint64_t mark(Rank to) noexcept override { return real_.mark(to); }
  bool was_read(Rank to, std::uint64_t mark) noexcept override { return real_.was_read(to, mark); }
  void note_read(Rank to, std::uint64_t mark) noexcept override { real_.note_read(to, mark); }
  ph_status get(Rank from, const Fetch& what, std::uint64_t& handle) override {
    return real_.get(from, what, handle);
  }
  ph_status contact(Rank rank) override { return real_.contact(rank); }
  ph_status state(Rank rank) const noexcept override { return real_.state(rank); }
  bool may_live(Rank rank) const noexcept override { return real_.may_live(rank); }
  void cut_off(Rank rank, const char* why) override { real_.cut_off(rank, why); }
  Rank rank() const noexcept override { return real_.rank(); }
  std::uint32_t size() const noexcept override { return real_.size(); }
  const base::Config& config() const noexcept override { return real_.config(); }
  std::uint64_t promise(const service::UserEnd& end) override { return real_.promise(end); }
  void complete(std::uint64_t promise, ph_status status, const char* why) noexcept override {
    real_.complete(promise, status, why);
  }
  void release(std::uint64_t promise) noexcept override { real_.release(promise); }
  void renounce(std::uint64_t promise) noexcept override { real_.renounce(promise); }
  ph_status again() noexcept override { return real_.again(); }
  void note_dropped() noexcept override { real_.note_dropped(); }
  void hand_over(std::uint64_t promise, ph_request* request) noexcept override {
    real_.hand_over(promise, request);
  }
  ph_status expose(std::span<const std::byte> memory, std::uint32_t access,
                   service::Exposed& exposed) override {
    return real_.expose(memory, access, exposed);
  }
  void conceal(service::Exposed& exposed) noexcept override { real_.conceal(exposed); }
  void wants_turn() noexcept override { real_.wants_turn(); }
  void wants_run() noexcept override { real_.wants_run(); }
  void wake() noexcept override { real_.wake(); }
  std::int64_t now_ns() noexcept override { return real_.now_ns(); }

 protected:
  Port& real_;

 private:
  // Nothing is written to a ring without a call here: the outlets are the real port's.
  ph_status say_anyhow(Rank to, std::span<const std::byte> header) noexcept override {
    service::Saying what;
    what.to = to;
    what.header = header;
    try {
      return say(what, nullptr);
    } catch (const std::bad_alloc&) {
      return PH_ERR_MEMORY;
    }
  }
  void tell(Rank /*to*/) noexcept override {}
};

}  // namespace photon::simtest
