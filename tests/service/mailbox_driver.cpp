// Mailboxes, as their users and their peers see them.
#include <array>

#include "driver.hpp"
#include "service/mailbox/mailboxes.hpp"

namespace photon::test {
namespace {

// Its own mailbox 7 has a buffer of three messages, 8 has none and keeps what comes, 9 is closed.
class MailboxDriver final : public Driver {
 public:
  MailboxDriver() : Driver(wire::Owner::mailbox), service_(port()) {
    port().serve(service_);
    box_ = opened(7);
    opened(8);
    post();
  }
  service::Service& service() noexcept override { return service_; }
  std::size_t kinds() const noexcept override { return 3; }
  // In the line, in the payload, as a body; each asks for its verdict.
  ph_status start(std::size_t kind, Rank to) override {
    static constexpr std::array<std::size_t, 3> kBytes = {8, 200, 3000};
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = 7;
    args.source = memory_.data();
    args.size_bytes = kBytes[kind];
    args.epoch = PH_ANY_EPOCH;
    args.request = &request_;
    const ph_status status = service_.sender().put(to, args, false);
    if (status == PH_OK) ++sent_[to];
    return status;
  }
  std::optional<Coming> answer(const Said& said) override {
    if ((words_in(said.header)[0] & 0xff) != kMail) return std::nullopt;
    const std::uint64_t number = answered_[said.to]++;
    return Coming{said.to, words_of({kVerdict | number << 8, PH_OK}), {}, {}, 0, 0};
  }
  std::vector<Coming> arrivals(Rank from) override {
    const Bytes part(300, std::byte{7});
    const auto mail = [&](std::uint64_t address, std::uint64_t flags) {
      return Coming{from, words_of({kMail | flags << 8 | 8 << 16, address, 0, 5}), {}, {}, 0, 0};
    };
    return {mail(7, kAsks),
            {from, words_of({kMail | kAsks << 8, 7, 8}), {}, part, 0, 700},
            {from, {}, {}, part, 300, 700},
            {from, {}, {}, Bytes(100), 600, 700},
            mail(9, 0),
            {from, words_of({kMail, 7, 1000}), Bytes(100, std::byte{4}), {}, 0, 0},
            {from, words_of({kMail, 7, 0}), {}, part, 0, 900},
            {from, {}, {}, {}, 300, 900}};  // its rest does not come
  }
  void take() override {
    ph_mailbox_event event{};
    while (service_.receiver().take({}, event) == PH_OK)
      if (event.why == PH_MAILBOX_COMPLETE) post();
    service_.receiver().tell_all();
  }
  std::uint64_t over() noexcept override { return port().told(); }

 private:
  static constexpr std::uint64_t kMail = 1, kVerdict = 3, kAsks = 4;

  ph_mailbox opened(std::uint64_t address) {
    ph_mailbox_args args{};
    args.size = sizeof args;
    args.address = address;
    args.unit = PH_MAILBOX_OPERATIONS;
    args.source = PH_ANY_RANK;
    ph_mailbox box{};
    EXPECT_EQ(service_.receiver().open(args, box), PH_OK);
    return box;
  }
  void post() {
    const ph_mailbox_buffer buffer{sizeof buffer, buffer_.data(), buffer_.size(), 3, nullptr, 0};
    static_cast<void>(service_.receiver().post(box_, buffer));  // not after close()
  }

  service::mailbox::Mailboxes service_;
  ph_mailbox box_{};
  ph_request request_ = PH_REQUEST_NONE;
  Bytes memory_ = Bytes(3000, std::byte{3});
  Bytes buffer_ = Bytes(4096);
  std::array<std::uint64_t, FakePort::kSize> sent_{}, answered_{};
};

}  // namespace

std::unique_ptr<Driver> drive_mailbox() { return std::make_unique<MailboxDriver>(); }

}  // namespace photon::test
