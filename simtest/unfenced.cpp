#include "simtest/unfenced.hpp"

#include <memory>
#include <new>
#include <vector>

#include "api/service_table.hpp"
#include "service/mailbox/mailboxes.hpp"

namespace photon::simtest {

namespace {

using service::Port;
using transport::Rank;

// Hands everything on to the engine's port, but what is given up.
class UnfencedPort : public Port {
 public:
  explicit UnfencedPort(Port& real) noexcept : Port(wire::Owner::mailbox), real_(real) {}

  bool give_up(std::uint64_t /*handle*/) noexcept override { return true; }
  // Grants stay good, and nobody looks whether their source copies.
  void revoke(service::Exposed& /*exposed*/) noexcept override {}
  bool forget(service::Exposed& /*exposed*/, Rank /*user*/) noexcept override { return true; }

  ph_status can_store_here(Rank rank) const noexcept override { return real_.can_store_here(rank); }
  ph_status store(Rank to, const ph_target& at, std::span<const std::byte> bytes) override {
    return real_.store(to, at, bytes);
  }
  ph_status expose_alone(std::span<const std::byte> memory, std::uint32_t access,
                         service::Exposed& exposed) override {
    return real_.expose_alone(memory, access, exposed);
  }

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

  Port& real_;
};

// The port comes first: the mailboxes need it from their beginning to their end.
struct HoldsPort {
  explicit HoldsPort(Port& real) noexcept : port(real) {}
  UnfencedPort port;
};

class UnfencedMailboxes final : private HoldsPort, public service::mailbox::Mailboxes {
 public:
  explicit UnfencedMailboxes(Port& real) : HoldsPort(real), Mailboxes(HoldsPort::port) {}
  static std::unique_ptr<Service> make(Port& real) {
    return std::make_unique<UnfencedMailboxes>(real);
  }
};

}  // namespace

std::span<const service::Kind> unfenced_services() noexcept {
  static const auto kServices = [] {
    std::vector<service::Kind> all(api::services().begin(), api::services().end());
    for (service::Kind& kind : all)
      if (kind.owner == wire::Owner::mailbox) kind.make = UnfencedMailboxes::make;
    return all;
  }();
  return kServices;
}

}  // namespace photon::simtest
