#include "simtest/unfenced.hpp"

#include <memory>
#include <vector>

#include "api/service_table.hpp"
#include "service/mailbox/mailboxes.hpp"
#include "simtest/passing_port.hpp"

namespace photon::simtest {

namespace {

using service::Port;

class UnfencedPort final : public PassingPort {
 public:
  explicit UnfencedPort(Port& real) noexcept : PassingPort(wire::Owner::mailbox, real) {}

  bool give_up(std::uint64_t /*handle*/) noexcept override { return true; }
  // Grants stay good, and nobody looks whether their source copies.
  void revoke(service::Exposed& /*exposed*/) noexcept override {}
  bool forget(service::Exposed& /*exposed*/, Rank /*user*/) noexcept override { return true; }
  void fence() noexcept override {}
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
