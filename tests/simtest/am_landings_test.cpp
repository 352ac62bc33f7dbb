// Landings of active messages, fed to their model by hand: what keeps the promises of photon/am.h,
// and what breaks them.
#include <algorithm>

#include "tests/simtest/fed_ams.hpp"

namespace photon::simtest {
namespace {

class AmLandingFed : public AmModelFed {
 protected:
  AmLandingFed() {
    step_.place.kind = AmPlace::Kind::buffer;
    step_.place.is_told = true;
    step_.place.chunk_bytes = 40;
    step_.flags = 0;
    step_.compare = 1;  // the number stands where its handler sees it in any case
  }
  // Its header handler has run, and named a landing.
  AmMessage& land(ph_status status = PH_OK) {
    AmMessage& one = send();
    EXPECT_NE(begun(one), nullptr);
    ams_->land(one).name(named_, nullptr, nullptr);
    ams_->handled(1, one, status);
    return one;
  }
  // The bytes of a part come to the landing, but for a number of them at its end.
  void come(const AmMessage& one, const ph_am_part& part, std::uint64_t lost = 0) {
    seen(one);
    const std::uint64_t end = std::min(part.offset + part.size_bytes, bytes_.size());
    for (std::uint64_t i = part.offset; i + lost < end; ++i) place(i) = bytes_[i];
  }
  std::byte& place(std::uint64_t byte) {
    if (named_.buffer != nullptr) return static_cast<std::byte*>(named_.buffer)[byte];
    const ph_block& first = named_.blocks[0];
    const ph_block& second = named_.blocks[2];
    return byte < first.size_bytes ? static_cast<std::byte*>(first.data)[byte]
                                   : static_cast<std::byte*>(second.data)[byte - first.size_bytes];
  }
  void tell(AmMessage& one, const ph_am_part& part, ph_status returned = PH_OK) {
    ph_am_message message = seen(one);
    message.payload = nullptr;
    ams_->part_begun(1, one, message, part);
    ams_->part_ended(1, one, part, returned);
  }
  void come_and_tell(AmMessage& one, ph_status returned = PH_OK) {
    const ph_am_part part = one.landed->next();
    come(one, part);
    tell(one, part, returned);
  }

  ph_am_landing named_{};
};

TEST_F(AmLandingFed, parts_in_order_with_their_bytes_settle_it) {
  for (const std::uint64_t size : {std::uint64_t{100}, std::uint64_t{3000}}) {  // carried, and read
    step_.size_bytes = size;
    step_.place.chunk_bytes = size / 2 + 1;
    named_ = {};
    AmMessage& one = land();
    come_and_tell(one);
    EXPECT_FALSE(one.is_handled);
    EXPECT_EQ(ams_->left_of(0, 1), &one) << "a quiesce has to wait for its last part";
    come_and_tell(one);
    EXPECT_TRUE(one.is_handled);
    complete(one, PH_OK);
    EXPECT_TRUE(ams_->is_settled());
    ams_->check_landings();
    EXPECT_EQ(kind(), "none");
  }
}

TEST_F(AmLandingFed, a_list_has_no_place_of_its_own_for_a_part) {
  step_.place.kind = AmPlace::Kind::blocks;
  AmMessage& one = land();
  EXPECT_EQ(one.landed->next().data, nullptr);
  const ph_block before[] = {named_.blocks[0], named_.blocks[1], named_.blocks[2]};
  named_.blocks = before;  // the model spoils its own
  for (int i = 0; i < 3; ++i) come_and_tell(one);
  EXPECT_EQ(kind(), "none");
  EXPECT_TRUE(one.is_handled);
}

TEST_F(AmLandingFed, a_part_that_is_skipped_or_told_twice_is_found) {
  AmMessage& one = land();
  come_and_tell(one);
  ph_am_part part = one.landed->next();
  part.offset += part.size_bytes;
  come(one, part);
  tell(one, part);
  EXPECT_EQ(kind(), "order");
}

TEST_F(AmLandingFed, a_part_behind_the_last_one_is_found) {
  step_.place.chunk_bytes = 0;
  AmMessage& one = land();
  const ph_am_part part = one.landed->next();
  come(one, part);
  tell(one, part);
  EXPECT_EQ(kind(), "none");
  tell(one, part);
  EXPECT_EQ(kind(), "unexpected");
}

TEST_F(AmLandingFed, a_last_part_that_is_none_is_found) {
  AmMessage& one = land();
  ph_am_part part = one.landed->next();
  come(one, part);
  part.is_last = 1;
  tell(one, part);
  EXPECT_EQ(kind(), "order");
}

TEST_F(AmLandingFed, a_byte_that_is_not_there_is_found) {
  AmMessage& one = land();
  const ph_am_part part = one.landed->next();
  come(one, part, 1);
  tell(one, part);
  EXPECT_EQ(kind(), "bytes");
}

TEST_F(AmLandingFed, what_is_written_when_it_is_over_is_found) {
  step_.place.chunk_bytes = 0;
  AmMessage& one = land();
  come_and_tell(one);
  ams_->check_landings();
  EXPECT_EQ(kind(), "none");
  place(3) = std::byte{1};
  ams_->check_landings();
  EXPECT_EQ(kind(), "late");
}

TEST_F(AmLandingFed, an_error_of_its_completion_handler_is_the_next_and_last_that_it_hears) {
  AmMessage& one = land();
  come_and_tell(one, kAmFailure);
  const ph_am_part end = one.landed->next();
  EXPECT_EQ(end.status, kAmFailure);
  EXPECT_EQ(end.is_last, 1);
  tell(one, end);
  EXPECT_EQ(one.result, kAmFailure);
  EXPECT_EQ(kind(), "none");
}

TEST_F(AmLandingFed, a_short_landing_is_told_once_and_its_sender_too) {
  step_.place.kind = AmPlace::Kind::small;
  AmMessage& one = land();
  tell(one, one.landed->next());
  complete(one, PH_OK);
  EXPECT_FALSE(ams_->is_settled());
  complete(one, PH_ERR_RANGE);
  EXPECT_TRUE(ams_->is_settled());
  EXPECT_EQ(kind(), "none");
}

TEST_F(AmLandingFed, a_source_that_dies_ends_it_with_its_error_and_one_that_lives_does_not) {
  step_.size_bytes = 3000;
  AmMessage& one = land();
  ph_am_part end{};
  end.status = PH_ERR_PEER;
  end.is_last = 1;
  oracle_->died(0);
  ams_->gone(0, true);
  EXPECT_FALSE(ams_->is_settled()) << "its completion handler is still to be called";
  tell(one, end);
  EXPECT_TRUE(ams_->is_settled());
  EXPECT_EQ(kind(), "none");
}

TEST_F(AmLandingFed, no_error_comes_of_a_source_that_lives) {
  step_.size_bytes = 3000;
  AmMessage& one = land();
  ph_am_part end{};
  end.status = PH_ERR_PEER;
  end.is_last = 1;
  tell(one, end);
  EXPECT_EQ(kind(), "order");
}

TEST_F(AmLandingFed, what_its_header_handler_refused_does_not_land) {
  AmMessage& one = land(kAmFailure);
  EXPECT_TRUE(one.is_handled);
  place(0) = std::byte{1};
  ams_->check_landings();
  EXPECT_EQ(kind(), "late");
}

TEST_F(AmLandingFed, a_payload_that_is_read_is_not_free_before_its_handler_has_begun) {
  step_.size_bytes = 3000;
  AmMessage& one = send();
  complete(one, PH_OK);
  EXPECT_EQ(kind(), "early");
}

}  // namespace
}  // namespace photon::simtest
