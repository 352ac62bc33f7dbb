#include "service/am/am_runner.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace photon::service::am {
namespace {

using Call = std::function<ph_status(const ph_am_message&, ph_am_landing&)>;

ph_status call(void* user, const ph_am_message* message, ph_am_landing* landing) {
  return (*static_cast<Call*>(user))(*message, *landing);
}

struct Part {
  ph_am_part part;
  bool has_header = false;
};

class AmRunner : public testing::Test {
 protected:
  void enroll(std::uint32_t id, Call what) {
    calls_.push_back(std::make_unique<Call>(std::move(what)));
    ASSERT_TRUE(table_.add(id, call, calls_.back().get()));
  }
  Arrived& arrive(std::uint16_t id, std::size_t payload_bytes = 8) {
    Word word;
    word.id = id;
    Arrived& entry = inbox_.add(2, word);
    entry.payload_bytes = payload_bytes;
    std::vector<std::byte> bytes(payload_bytes);
    for (std::size_t i = 0; i < payload_bytes; ++i) bytes[i] = static_cast<std::byte>(i);
    inbox_.copy(entry, bytes);
    return entry;
  }
  std::span<Arrived> run() {
    inbox_.swap();
    runner_.run();
    return inbox_.running();
  }
  static ph_status note(void* argument, const ph_am_message* message, const ph_am_part* part) {
    auto& self = *static_cast<AmRunner*>(argument);
    self.parts_.push_back({*part, message->header != nullptr || message->payload != nullptr ||
                                      message->header_bytes != 0});
    return self.parts_.size() == self.fails_at_ ? PH_ERR_RANGE : PH_OK;
  }

  HandlerTable table_;
  Inbox inbox_;
  Loans loans_;
  Runner runner_{{inbox_, loans_, table_, 0, 4096}};
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<Part> parts_;
  std::size_t fails_at_ = 0;
};

TEST_F(AmRunner, calls_handlers_in_order_with_what_came) {
  std::vector<std::uint32_t> ids;
  const auto keep = [&](const ph_am_message& message, ph_am_landing& landing) {
    ids.push_back(message.id);
    EXPECT_EQ(message.source, 2u);
    EXPECT_EQ(message.payload_bytes, 8u);
    EXPECT_EQ(static_cast<const std::byte*>(message.payload)[7], std::byte{7});
    EXPECT_EQ(landing.size, sizeof landing);
    return PH_OK;
  };
  enroll(1, keep);
  enroll(2, keep);
  for (const std::uint16_t id : {1, 2, 2, 1}) arrive(id);
  for (const Arrived& one : run()) EXPECT_EQ(one.status, PH_OK);
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{1, 2, 2, 1}));
  EXPECT_EQ(runner_.done(), 4u);
  EXPECT_EQ(runner_.calls(), 4u);
}

TEST_F(AmRunner, refuses_what_has_no_handler_and_goes_on) {
  enroll(1, [](const ph_am_message&, ph_am_landing&) { return PH_OK; });
  arrive(9);
  arrive(1);
  const auto ran = run();
  EXPECT_EQ(ran[0].status, PH_ERR_NOT_FOUND);
  EXPECT_EQ(ran[1].status, PH_OK);
  EXPECT_EQ(runner_.calls(), 1u);
}

TEST_F(AmRunner, tells_a_number_that_is_no_status_as_a_wrong_argument) {
  for (const auto& [returned, told] :
       {std::pair{PH_ERR_SYSTEM, PH_ERR_SYSTEM}, std::pair{PH_AGAIN, PH_ERR_ARGUMENT},
        std::pair{static_cast<ph_status>(-1000), PH_ERR_ARGUMENT}})
    EXPECT_EQ(as_told(returned), told) << returned;
}

TEST_F(AmRunner, comes_back_between_so_many_messages_and_goes_on_where_it_was) {
  std::vector<std::uint32_t> ids;
  const auto keep = [&](const ph_am_message& message, ph_am_landing&) {
    ids.push_back(message.id);
    return PH_OK;
  };
  for (std::uint16_t id = 1; id <= 40; ++id) {
    enroll(id, keep);
    arrive(id);
  }
  EXPECT_EQ(run().size(), 40u);
  EXPECT_EQ(runner_.done(), 16u);
  runner_.run();
  EXPECT_EQ(runner_.done(), 32u);
  runner_.run();
  EXPECT_EQ(runner_.done(), 40u);
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(ids[i], i + 1);
}

TEST_F(AmRunner, shows_a_line_without_what_the_message_before_it_had) {
  int calls = 0;
  enroll(1, [&](const ph_am_message& message, ph_am_landing&) {
    EXPECT_EQ(message.immediate, ++calls == 1 ? 5u : 0u);
    EXPECT_EQ(message.header_bytes, calls == 1 ? 8u : 0u);
    EXPECT_EQ(message.header != nullptr, calls == 1);
    EXPECT_EQ(message.flags, calls == 1 ? std::uint32_t{PH_AM_REPLY} : 0u);
    EXPECT_EQ(message.payload_bytes, calls == 1 ? 16u : 24u);
    return PH_OK;
  });
  Arrived& first = arrive(1, 24);
  first.word.flags = kWantsReply | kHasImmediate;
  first.word.header_bytes = 8;
  first.payload_bytes = 16;
  first.immediate = 5;
  arrive(1, 24);
  run();
  EXPECT_EQ(calls, 2);
}

TEST_F(AmRunner, comes_back_when_enough_lent_bytes_were_handled) {
  std::vector<std::byte> ring(5000);
  enroll(1, [](const ph_am_message&, ph_am_landing&) { return PH_OK; });
  for (int i = 0; i < 3; ++i) {
    Arrived& entry = arrive(1, 0);
    entry.where = Arrived::Bytes::lent;
    entry.bytes = ring.data();
    entry.payload_bytes = 3000;
  }
  arrive(1);
  inbox_.swap();
  runner_.run();
  EXPECT_EQ(runner_.done(), 2u);
  runner_.run();
  EXPECT_EQ(runner_.done(), 4u);
}

TEST_F(AmRunner, shows_a_message_only_while_its_handler_runs) {
  const ph_am_message* seen = nullptr;
  Asked* inside = nullptr;
  enroll(1, [&](const ph_am_message& message, ph_am_landing&) {
    seen = &message;
    inside = runner_.shown_as(&message);
    const ph_am_message copy = message;
    EXPECT_EQ(runner_.shown_as(&copy), nullptr);
    return PH_OK;
  });
  arrive(1);
  run();
  ASSERT_NE(inside, nullptr);
  EXPECT_EQ(inside->from, 2u);
  EXPECT_EQ(runner_.shown_as(seen), nullptr);
}

TEST_F(AmRunner, lands_a_carried_payload_part_by_part_and_tells_of_each) {
  std::vector<std::byte> memory(100);
  enroll(1, [&](const ph_am_message&, ph_am_landing& landing) {
    landing.buffer = memory.data();
    landing.buffer_bytes = memory.size();
    landing.chunk_bytes = 40;
    landing.done = note;
    landing.argument = this;
    return PH_OK;
  });
  arrive(1, 90);
  EXPECT_EQ(run()[0].status, PH_OK);
  ASSERT_EQ(parts_.size(), 3u);
  EXPECT_EQ(parts_[2].part.offset, 80u);
  EXPECT_EQ(parts_[2].part.size_bytes, 10u);
  EXPECT_NE(parts_[2].part.is_last, 0);
  for (const Part& one : parts_) EXPECT_FALSE(one.has_header);
  for (std::size_t i = 0; i < 90; ++i) ASSERT_EQ(memory[i], static_cast<std::byte>(i));
  EXPECT_EQ(memory[90], std::byte{0});
}

TEST_F(AmRunner, tells_of_the_end_of_an_empty_payload_that_lands_in_an_empty_buffer) {
  enroll(1, [this](const ph_am_message&, ph_am_landing& landing) {
    landing.buffer = nullptr;  // as std::vector().data()
    landing.buffer_bytes = 0;
    landing.done = note;
    landing.argument = this;
    return PH_OK;
  });
  arrive(1, 0);
  EXPECT_EQ(run()[0].status, PH_OK);
  ASSERT_EQ(parts_.size(), 1u);
  EXPECT_EQ(parts_[0].part.size_bytes, 0u);
  EXPECT_EQ(parts_[0].part.status, PH_OK);
  EXPECT_NE(parts_[0].part.is_last, 0);
}

TEST_F(AmRunner, calls_a_completion_handler_that_fails_once_more_as_the_last) {
  std::vector<std::byte> memory(100);
  fails_at_ = 2;
  enroll(1, [&](const ph_am_message&, ph_am_landing& landing) {
    landing.buffer = memory.data();
    landing.buffer_bytes = memory.size();
    landing.chunk_bytes = 10;
    landing.done = note;
    landing.argument = this;
    return PH_OK;
  });
  arrive(1, 50);
  EXPECT_EQ(run()[0].status, PH_ERR_RANGE);
  ASSERT_EQ(parts_.size(), 3u);
  EXPECT_EQ(parts_[2].part.status, PH_ERR_RANGE);
  EXPECT_NE(parts_[2].part.is_last, 0);
}

TEST_F(AmRunner, tells_of_a_landing_that_is_too_small_once_with_the_error) {
  std::byte small[4];
  enroll(1, [&](const ph_am_message&, ph_am_landing& landing) {
    landing.buffer = small;
    landing.buffer_bytes = sizeof small;
    landing.done = note;
    landing.argument = this;
    return PH_OK;
  });
  arrive(1, 50);
  EXPECT_EQ(run()[0].status, PH_ERR_RANGE);
  ASSERT_EQ(parts_.size(), 1u);
  EXPECT_EQ(parts_[0].part.status, PH_ERR_RANGE);
  EXPECT_NE(parts_[0].part.is_last, 0);
}

TEST_F(AmRunner, ignores_the_landing_of_a_handler_that_fails) {
  std::byte memory[64] = {};
  enroll(1, [&](const ph_am_message&, ph_am_landing& landing) {
    landing.buffer = memory;
    landing.buffer_bytes = sizeof memory;
    landing.done = note;
    landing.argument = this;
    return PH_ERR_STATE;
  });
  arrive(1, 50);
  EXPECT_EQ(run()[0].status, PH_ERR_STATE);
  EXPECT_TRUE(parts_.empty());
  EXPECT_EQ(memory[1], std::byte{0});
}

TEST_F(AmRunner, ends_the_process_that_lets_an_exception_out_and_names_the_id) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  enroll(77, [](const ph_am_message&, ph_am_landing&) -> ph_status { throw 1; });
  arrive(77);
  EXPECT_DEATH(run(), "handler of active message 77 \\(rank 0\\) let an exception out");
}

}  // namespace
}  // namespace photon::service::am
