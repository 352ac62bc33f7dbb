// What a service may do (service/service.hpp), carried out by the engine of its lane.
// Invariant: words of failures that a service causes stay with its port: those of the user's calls
// are not touched. Owner: Services; threads: under the lane's lock.
#pragma once

#include <map>
#include <memory>

#include "engine/services.hpp"

namespace photon::engine {

class ServicePort final : public service::Port {
 public:
  ServicePort(Engine& engine, Services& services, wire::Owner owner)
      : Port(owner), engine_(engine), services_(services), owner_(owner) {
    outlets_ = services.outlets_;
  }

  ph_status say(const service::Saying& what, std::uint64_t* ticket) override;
  bool unsay(Rank to, std::uint64_t ticket) noexcept override;
  ph_status say_body(const service::Saying& what, std::span<const std::byte> body,
                     std::uint64_t token) override;
  service::Written say_chunk_now(Rank to, std::array<std::uint64_t, 2> header,
                                 std::span<const std::byte> bytes) noexcept override;
  void give_back(Rank from, std::uint64_t loan) override;
  std::uint64_t mark(Rank to) noexcept override;
  bool was_read(Rank to, std::uint64_t mark) noexcept override;
  void note_read(Rank to, std::uint64_t mark) noexcept override;

  ph_status reserve(Rank to, std::uint64_t size_bytes, std::span<std::byte>& room) override;
  void fill(Rank to, std::byte* at, std::span<const std::byte> bytes) noexcept override;
  ph_status commit(const service::Saying& what, std::uint64_t size_bytes) override;
  void cancel_room(Rank to) noexcept override;

  ph_status get(Rank from, const Fetch& what, std::uint64_t& handle) override;
  bool give_up(std::uint64_t handle) noexcept override;

  ph_status contact(Rank rank) override;
  ph_status state(Rank rank) const noexcept override;
  bool may_live(Rank rank) const noexcept override;
  void cut_off(Rank rank, const char* why) override;
  bool is_here(Rank rank) const noexcept override;
  Rank host_of(Rank rank) const noexcept override;
  Rank rank() const noexcept override;
  std::uint32_t size() const noexcept override;
  const base::Config& config() const noexcept override;

  std::uint64_t promise(const service::UserEnd& end) override;
  void complete(std::uint64_t promise, ph_status status, const char* why) noexcept override;
  void release(std::uint64_t promise) noexcept override;
  void renounce(std::uint64_t promise) noexcept override;
  ph_status again() noexcept override;
  void report_late(Rank rank, std::uint64_t local_id, ph_status status,
                   const char* why) noexcept override;
  void note_dropped() noexcept override;
  void note_unheard(Rank rank, ph_status status, const char* why) noexcept override;
  void note_lost(Rank rank) noexcept override;
  void hand_over(std::uint64_t promise, ph_request* request) noexcept override;

  ph_status expose(std::span<const std::byte> memory, std::uint32_t access,
                   service::Exposed& exposed) override;
  void conceal(service::Exposed& exposed) noexcept override;
  ph_status can_store_here(Rank rank) const noexcept override;
  ph_status store(Rank to, const ph_target& at, std::span<const std::byte> bytes) override;
  ph_status expose_alone(std::span<const std::byte> memory, std::uint32_t access,
                         service::Exposed& exposed) override;
  void revoke(service::Exposed& exposed) noexcept override;
  void fence() noexcept override;
  bool forget(service::Exposed& exposed, Rank user) noexcept override;

  bool shares_memory(Rank rank) const noexcept override;
  std::span<std::byte> share(std::size_t size_bytes) override;
  const std::byte* see(Rank rank, std::uint64_t address, std::uint64_t size_bytes) override;
  void wake_rank(Rank rank) noexcept override;
  void wants_looks(bool wants) noexcept override { services_.wants_looks(owner_, wants); }

  void wants_turn() noexcept override { services_.wants_turn(owner_); }
  void wants_run() noexcept override { services_.wants_run(owner_); }
  bool runs_now() const noexcept override { return services_.runs_now(owner_); }
  bool is_in_run() const noexcept override { return services_.is_in_run(owner_); }
  bool is_beside_caller() const noexcept override { return services_.is_beside_caller(); }
  void wants_company() noexcept override;
  void wake() noexcept override;
  std::int64_t now_ns() noexcept override;

 private:
  ph_status say_anyhow(Rank to, std::span<const std::byte> header) noexcept override;
  void tell(Rank to) noexcept override;
  Request* promised(std::uint64_t promise) noexcept;
  ph_status register_for(std::span<const std::byte> memory, std::uint32_t access,
                         service::Exposed& exposed);
  ph_status in_own_words(ph_status status, base::Error before);

  Engine& engine_;
  Services& services_;
  const wire::Owner owner_;
  std::map<Rank, std::shared_ptr<const void>> seen_;  // keeps what see() has shown
};

}  // namespace photon::engine
