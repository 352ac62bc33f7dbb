// The services of this version, as their users and their peers see them.
#include "driver.hpp"
#include "service/echo/echo.hpp"
#include "service/rendezvous/rendezvous.hpp"

namespace photon::test {
namespace {

class EchoDriver final : public Driver {
 public:
  EchoDriver() : Driver(wire::Owner::echo), echo_(port()) {
    port().serve(echo_);
    echo_.listen([](void* user, ph_rank, std::uint64_t) { ++*static_cast<std::uint64_t*>(user); },
                 &heard_);
  }
  service::Service& service() noexcept override { return echo_; }
  std::size_t kinds() const noexcept override { return 2; }
  ph_status start(std::size_t kind, Rank to) override {
    return kind == 0 ? echo_.ask(to, ++value_) : echo_.ask_body(to, body_, ++value_);
  }
  std::optional<Coming> answer(const Said& said) override {
    const auto words = words_in(said.header);
    if (said.is_body) {
      service::echo::Sum sum;
      sum.add(said.body);
      return Coming{said.to, words_of({kBodySum, sum.value()}), {}, {}, 0, 0};
    }
    if (words[0] == kAsked) return Coming{said.to, words_of({kAnswer, words[1]}), {}, {}, 0, 0};
    return std::nullopt;
  }
  std::vector<Coming> arrivals(Rank from) override {
    const Bytes part(100, std::byte{7});
    return {{from, words_of({kAsked, 1}), {}, {}, 0, 0},
            {from, words_of({kBody}), {}, part, 0, 250},
            {from, words_of({kTold, 2}), {}, {}, 0, 0},
            {from, {}, {}, part, 100, 250},
            {from, words_of({kAsked, 3}), {}, {}, 0, 0},
            {from, {}, {}, Bytes(50, std::byte{9}), 200, 250},
            {from, words_of({kBody}), {}, part, 0, 300},
            {from, {}, {}, {}, 100, 300}};  // its rest does not come
  }
  void take() override {
    for (ph_echo_result result; echo_.take(result);) ++taken_;
  }
  std::uint64_t over() noexcept override { return taken_; }

 private:
  static constexpr std::uint64_t kAsked = 1, kAnswer = 2, kTold = 3, kBody = 4, kBodySum = 5;

  service::echo::Echo echo_;
  Bytes body_ = Bytes(200, std::byte{3});
  std::uint64_t value_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t heard_ = 0;
};

class RendezvousDriver final : public Driver {
 public:
  RendezvousDriver() : Driver(wire::Owner::rendezvous), service_(port()) { port().serve(service_); }
  service::Service& service() noexcept override { return service_; }
  std::size_t kinds() const noexcept override { return 4; }
  // Lent to be written; lent to be read; what comes along; a wish.
  ph_status start(std::size_t kind, Rank to) override {
    ph_announce_args args{};
    args.size = sizeof args;
    args.kind = kind == 0 ? PH_RECV_BUFFER : kind == 3 ? PH_SEND_REQUEST : PH_SEND_BUFFER;
    args.tag = 5;
    args.buffer = memory_.data();
    args.size_bytes = kind == 2 ? 40 : memory_.size();
    return service_.announce(to, args);
  }
  std::optional<Coming> answer(const Said& said) override {
    const auto words = words_in(said.header);
    if (words[0] >> kOpShift != kAnnounced) return std::nullopt;
    return Coming{
        said.to, words_of({(words[0] & kTokenMask) | kFinished << kOpShift, PH_OK}), {}, {}, 0, 0};
  }
  std::vector<Coming> arrivals(Rank from) override {
    const auto kind = [](ph_buffer_kind one) { return static_cast<std::uint64_t>(one) << 62; };
    const auto announced = [&](std::uint64_t token, std::uint64_t what, std::uint64_t key,
                               Bytes payload = {}) {
      return Coming{from,
                    words_of({token | kAnnounced << kOpShift, what, 6, key == 0 ? 0 : 4096ul, key}),
                    std::move(payload),
                    {},
                    0,
                    0};
    };
    return {
        announced(1, kind(PH_RECV_BUFFER) | 64, 9),
        announced(2, kind(PH_SEND_BUFFER) | 24, 0, Bytes(24, std::byte{4})),
        announced(3, kind(PH_SEND_REQUEST) | 1000, 0),
        announced(4, kind(PH_SEND_BUFFER) | 5000, 8),
        {from, words_of({1 | kRetracted << kOpShift, kind(PH_RECV_BUFFER) | 64, 6}), {}, {}, 0, 0},
        announced(5, kind(PH_RECV_BUFFER) | 32, 7)};
  }
  void take() override {
    for (const auto kind : {PH_RECV_BUFFER, PH_SEND_BUFFER, PH_SEND_REQUEST}) {
      const ph_match match{kind, PH_ANY_RANK, PH_ANY_TAG, PH_ANY_SIZE};
      ph_buffer buffer{};
      while (service_.take(match, buffer))
        if (kind != PH_SEND_REQUEST) static_cast<void>(service_.finish(buffer));
    }
  }
  // (Of what is over at once a second completion may say that it was not.)
  std::uint64_t over() noexcept override { return port().told(); }

 private:
  static constexpr std::uint64_t kAnnounced = 1, kFinished = 2, kRetracted = 3;
  static constexpr unsigned kOpShift = 60;
  static constexpr std::uint64_t kTokenMask = (std::uint64_t{1} << kOpShift) - 1;

  service::rendezvous::Rendezvous service_;
  Bytes memory_ = Bytes(6000);
};

}  // namespace

std::unique_ptr<Driver> drive_echo() { return std::make_unique<EchoDriver>(); }
std::unique_ptr<Driver> drive_rendezvous() { return std::make_unique<RendezvousDriver>(); }

}  // namespace photon::test
