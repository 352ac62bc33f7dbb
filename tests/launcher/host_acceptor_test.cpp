#include "host_acceptor.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace photonrun {
namespace {

class NobodyAsks final : public Attendant {
 public:
  void want(std::vector<pollfd>&) override {}
  void handle(const std::vector<pollfd>&) override {}
  void joined(unsigned) override {}
};

// More than the pending connections that a root without a list takes: all say hello before one is
// welcome.
TEST(HostAcceptor, has_room_for_all_hosts_of_its_list_at_once) {
  if (!photon::system::can_prove()) GTEST_SKIP() << "this photonrun was built without OpenSSL";
  constexpr unsigned kHosts = 100;
  const HostPort any{.host = "127.0.0.1", .port = "0"};
  std::vector<Fd> listeners = std::move(listen_at(any, resolve(any, 0).targets).sockets);
  const HostPort place = parse_host_port(own_address(listeners.front().get()));
  const std::vector<Target> places = resolve(place, 0).targets;
  ASSERT_FALSE(places.empty());
  Signals signals;
  signals.listen();
  Output output;
  const StartupWait startup_wait(signals, -1, output);
  NobodyAsks attendant;
  std::vector<Seat> seats(kHosts, Seat{.name = "host", .ranks = 1});
  std::vector<Fd> guests;
  for (unsigned i = 0; i < kHosts; ++i) {
    Fd& pending = guests.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* address = reinterpret_cast<const sockaddr*>(&places.front().address);
    ASSERT_EQ(::connect(pending.get(), address, places.front().bytes), 0);
    const Hello hello{.ranks = 1, .seat = i + 1};
    ASSERT_EQ(::send(pending.get(), &hello, sizeof hello, 0), static_cast<ssize_t>(sizeof hello));
  }
  testing::internal::CaptureStderr();
  HostAcceptor acceptor(std::move(listeners), "a key of the tests", seats, attendant, startup_wait);
  EXPECT_THROW((void)acceptor.run(0.5), std::runtime_error);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // nobody was refused
}

}  // namespace
}  // namespace photonrun
