// One end of a stream whose peer is forged: it takes nothing that its peer may not send.
#include "stream/stream_end.hpp"

#include <gtest/gtest.h>

#include <string>

namespace photon::stream {
namespace {

constexpr std::uint64_t kOurs = end_address(1);
constexpr std::uint64_t kPeers = end_address(2);

// The end and its peer are this rank's; the peer is a mailbox, and what the test appends.
class StreamEnd : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    end_ = std::make_unique<End>(Place{context_, 65'536, {64, 2}}, 0);
    ASSERT_EQ(end_->open(kOurs), PH_OK);
    ph_mailbox_args args{};
    args.size = sizeof args;
    args.address = kPeers;
    args.threshold = 1;
    args.unit = PH_MAILBOX_OPERATIONS;
    args.placing = PH_MAILBOX_MANAGED;
    ASSERT_EQ(ph_mailbox_open(context_, &args, &peer_), PH_OK);
    for (auto& one : memory_) {
      const ph_mailbox_buffer buffer{sizeof buffer, one.data(), one.size(), 0, nullptr, 0};
      ASSERT_EQ(ph_mailbox_post(context_, peer_, &buffer), PH_OK);
    }
  }
  void TearDown() override {
    end_.reset();
    ph_context_destroy(context_);
  }

  void accepted() {
    Message asked;
    asked.kind = Kind::connect;
    asked.address = kPeers;
    asked.sizes = {64, 2};
    end_->accept(asked);
    EXPECT_EQ(taken().kind, Kind::accept);
  }
  void send(std::span<const std::byte> bytes) {
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = kOurs;
    args.source = bytes.data();
    args.size_bytes = bytes.size();
    args.epoch = PH_ANY_EPOCH;
    args.flags = PH_NO_LCE;
    ASSERT_EQ(ph_mailbox_append(context_, 0, &args), PH_OK);
  }
  void send(const Message& message) { send(encode(message).bytes()); }
  void send(Kind kind, std::uint64_t bytes = 0, std::uint64_t consumed = 0) {
    Message message;
    message.kind = kind;
    message.bytes = bytes;
    message.consumed = consumed;
    message.address = kPeers;
    message.sizes = {64, 2};
    send(message);
  }
  void send_data(const std::string& text) {
    std::string all(kHeadBytes, '\0');
    all[0] = static_cast<char>(Kind::data);
    all += text;
    send(std::as_bytes(std::span(all)));
  }
  // The next message to the peer.
  Message taken() {
    ph_mailbox_event event{};
    EXPECT_EQ(ph_mailbox_wait(context_, peer_, &event, 1'000'000), PH_OK);
    const auto message = decode({static_cast<const std::byte*>(event.data), event.size_bytes});
    EXPECT_TRUE(message.has_value());
    return message.value_or(Message{});
  }
  ph_status read(std::string& text) {
    char room[64];
    std::size_t count = 0;
    const ph_status status = end_->read(std::as_writable_bytes(std::span(room)), count);
    text.assign(room, count);
    return status;
  }
  ph_status write(const std::string& text, std::size_t& count) {
    count = 0;
    return end_->write(std::as_bytes(std::span(text)), count);
  }
  // All ways are over, and say so.
  void expect_protocol(const std::string& after = "") {
    std::string text;
    std::size_t count = 0;
    ph_status status = read(text);
    if (!after.empty()) {
      EXPECT_EQ(status, PH_OK);
      EXPECT_EQ(text, after) << "what had come is read";
      status = read(text);
    }
    EXPECT_EQ(status, PH_ERR_PROTOCOL);
    EXPECT_EQ(write("x", count), PH_ERR_PROTOCOL);
    EXPECT_EQ(end_->ready(), std::uint32_t{PH_STREAM_READABLE | PH_STREAM_WRITABLE});
  }

  ph_context* context_ = nullptr;
  std::unique_ptr<End> end_;
  ph_mailbox peer_{};
  std::array<std::array<std::byte, 64>, 16> memory_{};
};

TEST_F(StreamEnd, takes_data_and_then_its_end) {
  accepted();
  std::string text;
  EXPECT_EQ(read(text), PH_AGAIN);
  send_data("one");
  send_data("two");
  send(Kind::fin, 6);
  EXPECT_EQ(read(text), PH_OK);
  EXPECT_EQ(text, "onetwo");
  EXPECT_EQ(read(text), PH_OK);
  EXPECT_EQ(text, "");
}

TEST_F(StreamEnd, gives_credit_for_what_was_read_to_the_end) {
  accepted();
  std::string text;
  send_data("one");
  EXPECT_EQ(read(text), PH_OK);
  const Message credit = taken();
  EXPECT_EQ(credit.kind, Kind::credit);
  EXPECT_EQ(credit.consumed, 1u);
}

TEST_F(StreamEnd, sends_no_more_than_its_peer_has_buffers_for) {
  accepted();
  std::size_t count = 0;
  EXPECT_EQ(write(std::string(500, 'a'), count), PH_OK);
  EXPECT_EQ(count, 2 * (64 - kHeadBytes));
  EXPECT_EQ(write("b", count), PH_AGAIN);
  EXPECT_EQ(end_->ready(), 0u);
  send(Kind::credit, 0, 1);
  EXPECT_EQ(write(std::string(500, 'b'), count), PH_OK);
  EXPECT_EQ(count, 64 - kHeadBytes);
}

TEST_F(StreamEnd, before_it_is_accepted_takes_an_answer_only) {
  send_data("early");
  expect_protocol();
}

TEST_F(StreamEnd, hears_that_it_was_refused) {
  send(Kind::refuse);
  std::string text;
  EXPECT_EQ(read(text), PH_ERR_NOT_FOUND);
}

TEST_F(StreamEnd, is_accepted_once) {
  send(Kind::accept);
  std::string text;
  EXPECT_EQ(read(text), PH_AGAIN);
  send(Kind::accept);
  expect_protocol();
}

TEST_F(StreamEnd, is_not_refused_when_it_is_open) {
  accepted();
  send(Kind::refuse);
  expect_protocol();
}

TEST_F(StreamEnd, ends_a_peer_that_sends_beyond_its_credit) {
  accepted();
  for (const char* const text : {"1", "2", "3"}) send_data(text);
  expect_protocol("12");
}

TEST_F(StreamEnd, ends_a_peer_whose_count_of_bytes_is_wrong) {
  accepted();
  send_data("abc");
  send(Kind::fin, 4);
  expect_protocol("abc");
}

TEST_F(StreamEnd, ends_a_peer_that_goes_on_after_its_end) {
  accepted();
  send(Kind::fin, 0);
  send_data("more");
  std::string text;
  std::size_t count = 0;
  EXPECT_EQ(read(text), PH_OK) << "the end stays";
  EXPECT_EQ(text, "");
  EXPECT_EQ(write("x", count), PH_ERR_PROTOCOL);
}

TEST_F(StreamEnd, ends_a_peer_that_has_read_what_was_not_sent) {
  accepted();
  send(Kind::credit, 0, 1);
  expect_protocol();
}

TEST_F(StreamEnd, ends_a_peer_that_takes_credit_back) {
  accepted();
  std::size_t count = 0;
  ASSERT_EQ(write("a", count), PH_OK);
  send(Kind::credit, 0, 1);
  send(Kind::credit, 0, 0);
  expect_protocol();
}

TEST_F(StreamEnd, ends_a_peer_that_sends_no_message) {
  accepted();
  const std::uint64_t nonsense[] = {0, 8, 0xff, head(Kind::data, 0), head(Kind::fin, 0)};
  for (const std::uint64_t& word : nonsense) {
    SCOPED_TRACE(word);
    EXPECT_FALSE(decode(std::as_bytes(std::span(&word, 1))).has_value());
  }
  send(std::as_bytes(std::span(nonsense, 1)));
  expect_protocol();
}

TEST_F(StreamEnd, is_over_when_its_requests_are) {
  accepted();
  std::size_t count = 0;
  ASSERT_EQ(write("last words", count), PH_OK);
  end_->begin_close();
  EXPECT_EQ(taken().kind, Kind::data);
  while (!end_->is_over()) end_->wait_request(1000);
  const Message close = taken();
  EXPECT_EQ(close.kind, Kind::close);
  EXPECT_EQ(close.bytes, 10u);
  EXPECT_FALSE(end_->wait_request(0)) << "there is none";
}

TEST(StreamMessage, keeps_what_its_kind_has) {
  Message message;
  message.consumed = kMostCount;
  message.address = kOurs;
  message.sizes = {4096, 7};
  message.incarnation = 3;
  message.bytes = 1'000'000'000'000;
  for (const Kind kind :
       {Kind::connect, Kind::accept, Kind::credit, Kind::fin, Kind::close, Kind::refuse}) {
    message.kind = kind;
    const auto back = decode(encode(message).bytes());
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->kind, kind);
    EXPECT_EQ(back->consumed, kMostCount);
    EXPECT_EQ(encode(*back).words, encode(message).words);
    EXPECT_FALSE(decode(encode(message).bytes().first(encode(message).bytes().size() - 1)));
  }
  message.kind = Kind::connect;
  for (const Sizes sizes :
       {Sizes{63, 1}, Sizes{64, 0}, Sizes{64, kMostBuffers + 1}, Sizes{kMostBufferBytes + 1, 1}}) {
    message.sizes = sizes;
    EXPECT_FALSE(decode(encode(message).bytes()));
  }
}

}  // namespace
}  // namespace photon::stream
