// Active messages, as their users and their peers see them.
#include <array>

#include "driver.hpp"
#include "service/am/am.hpp"

namespace photon::test {
namespace {

using service::am::encode;
using service::am::Op;
using service::am::Word;

// Handler 1 uses what comes in place; 2 has none.
class AmDriver final : public Driver {
 public:
  AmDriver() : Driver(wire::Owner::am), service_(port()) {
    port().serve(service_);
    EXPECT_EQ(service_.enroll(1, handle, this), PH_OK);
  }
  service::Service& service() noexcept override { return service_; }
  std::size_t kinds() const noexcept override { return 4; }
  // In a line, in a record, as a body, to be read by the target; the user wants to know when its
  // handler has returned.
  ph_status start(std::size_t kind, Rank to) override {
    static constexpr std::array<std::size_t, 4> kBytes = {8, 150, 3000, 100'000};
    ph_am_args args{};
    args.size = sizeof args;
    args.id = 7;
    args.flags = PH_DELIVERED;
    args.payload = memory_.data();
    args.payload_bytes = kBytes[kind];
    args.request = &request_;
    return service_.send(to, args);
  }
  // Each message frees its slot, which says that it was handled; one that is read ends by itself.
  std::optional<Coming> answer(const Said& said) override {
    const auto words = words_in(said.header);
    const auto word = service::am::decode(words[0]);
    if (!word || !service::am::is_message(word->op)) return std::nullopt;
    const std::uint64_t handled = ++handled_[said.to];
    if (word->op == Op::pull)
      return Coming{said.to, words_of({encode(Word{Op::done, 0, 0, 0, 0}), words[2], 0}), {}, {}, 0,
                    0};
    return Coming{said.to, words_of({encode(Word{Op::credit, 0, 0, 0, 0}), handled}), {}, {}, 0, 0};
  }
  std::vector<Coming> arrivals(Rank from) override {
    const auto word = [](Op op, std::uint16_t id, std::uint8_t flags = 0) {
      return encode(Word{op, flags, id, 0, 0});
    };
    const std::uint64_t aggregate = encode(Word{Op::aggregate, 0, 0, 0, 0});
    const std::uint64_t item = service::am::encode_item({0, 1, 0, 0});
    const Bytes part(300, std::byte{7});
    return {{from, words_of({word(Op::line, 1), 5}), {}, {}, 0, 0},
            {from, words_of({word(Op::record, 1, kTells), 100}), Bytes(100), {}, 0, 0},
            {from, words_of({word(Op::body, 1), 700}), {}, part, 0, 700},
            {from, {}, {}, part, 300, 700},
            {from, {}, {}, Bytes(100), 600, 700},
            {from, words_of({word(Op::line, 2)}), {}, {}, 0, 0},
            {from, words_of({word(Op::pull, 1), 50, 6, 1}), words_of({4096, 50, 9}), {}, 0, 0},
            {from, words_of({aggregate, 16}), words_of({item, item}), {}, 0, 0},
            {from, words_of({word(Op::body, 1), 300}), {}, part, 0, 300},
            {from, words_of({word(Op::line, 1, kTells | kWantsReply)}), {}, {}, 0, 0}};
  }
  void take() override {}
  std::uint64_t over() noexcept override { return port().told(); }

 private:
  static constexpr std::uint8_t kTells = service::am::kTellsHandled;
  static constexpr std::uint8_t kWantsReply = service::am::kWantsReply;

  static ph_status handle(void*, const ph_am_message*, ph_am_landing*) { return PH_OK; }

  service::am::Am service_;
  ph_request request_ = PH_REQUEST_NONE;
  Bytes memory_ = Bytes(100'000, std::byte{3});
  std::array<std::uint64_t, FakePort::kSize> handled_{};
};

}  // namespace

std::unique_ptr<Driver> drive_am() { return std::make_unique<AmDriver>(); }

}  // namespace photon::test
