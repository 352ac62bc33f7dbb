// The model of gets from mailboxes, fed by hand with what keeps the promises, and with what breaks
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "fed_mailboxes.hpp"
#include "simtest/mail_gets.hpp"

namespace photon::simtest {
namespace {

class MailGetsFed : public MailModelFed {
 protected:
  void SetUp() override {
    MailModelFed::SetUp();
    gets_ = std::make_unique<MailGets>(*oracle_, program_, *model_);
  }
  void open_for_reading(std::uint64_t operations) {
    ph_mailbox_args args{};
    args.threshold = operations;
    args.unit = PH_MAILBOX_OPERATIONS;
    args.source = PH_ANY_RANK;
    args.flags = PH_MAILBOX_READ;
    boxes().opened(1, 0, args, {++handles_}, PH_OK);
    sync(0);
  }
  Getting& get(std::uint64_t size_bytes, std::uint64_t offset) {
    Step step;
    step.verb = Verb::mail_get;
    step.peer = 1;
    step.size_bytes = size_bytes;
    step.offset = offset;
    step.kinds = 0;
    Getting& get = gets_->begin(0, step);
    gets_->posted(get, PH_OK);
    return get;
  }
  void end(Getting& get, ph_status status = PH_OK) {
    ph_completion one{};
    const std::vector<std::byte> id = MailGets::id_of(get);
    std::memcpy(&one.id, id.data(), sizeof one.id);
    one.id_size_bytes = 8;
    one.kind = PH_LOCAL;
    one.peer = 1;
    one.status = status;
    EXPECT_TRUE(gets_->completed(0, one));
  }
  std::unique_ptr<MailGets> gets_;
};

TEST_F(MailGetsFed, what_a_buffer_holds_is_read_and_counted) {
  open_for_reading(1);
  std::byte* const data = post(0);
  Getting& one = get(24, 40);
  EXPECT_FALSE(gets_->is_settled());
  std::copy_n(data + 40, 24, one.destination());
  end(one);
  take(event_of(1, 24, 64));
  EXPECT_TRUE(gets_->is_settled());
  gets_->check_memory();
  EXPECT_EQ(kind(), "none");
}

TEST_F(MailGetsFed, bytes_that_no_buffer_held_are_found) {
  open_for_reading(1);
  std::byte* const data = post(0);
  Getting& one = get(24, 40);
  std::copy_n(data + 40, 24, one.destination());
  one.destination()[23] ^= std::byte{1};
  end(one);
  EXPECT_EQ(kind(), "bytes");
}

TEST_F(MailGetsFed, bytes_of_two_epochs_are_found) {
  open_for_reading(1);
  std::byte* const data[] = {post(0), post(1)};
  Getting& one = get(24, 40);
  std::copy_n(data[0] + 40, 12, one.destination());
  std::copy_n(data[1] + 52, 12, one.destination() + 12);
  end(one);
  EXPECT_EQ(kind(), "bytes");
}

TEST_F(MailGetsFed, a_get_that_has_read_counts) {
  open_for_reading(2);
  std::byte* const data = post(0);
  for (int i = 0; i < 2; ++i) {
    Getting& one = get(24, 40);
    std::copy_n(data + 40, 24, one.destination());
    end(one);
  }
  boxes().place(1, 0).slots[0].at() = {data, 64};
  boxes().closing(box());
  boxes().closed(box(), PH_OK);
  take(event_of(1, 24, 64, PH_MAILBOX_CLOSED));
  gets_->check_memory();
  EXPECT_EQ(kind(), "count");
}

TEST_F(MailGetsFed, no_more_gets_count_than_there_were) {
  open_for_reading(2);
  post(0);
  end(get(24, 40), PH_ERR_NO_BUFFER);
  take(event_of(2, 48, 64));
  EXPECT_EQ(kind(), "count");
}

TEST_F(MailGetsFed, a_refusal_has_a_reason_and_comes_once) {
  open_for_reading(2);
  post(0);
  Getting& far = get(24, kBufferBytes);
  end(far, PH_ERR_RANGE);
  EXPECT_EQ(kind(), "none");
  end(get(24, 0), PH_ERR_RANGE);
  EXPECT_EQ(kind(), "status");
}

TEST_F(MailGetsFed, a_destination_is_not_touched_afterwards) {
  open_for_reading(2);
  post(0);
  Getting& one = get(24, 0);
  end(one, PH_ERR_NO_BUFFER);
  one.destination()[0] ^= std::byte{1};
  gets_->check_memory();
  EXPECT_EQ(kind(), "guard");
}

}  // namespace
}  // namespace photon::simtest
