// What only the interface of prepared spans checks, and all of it of a rank alone.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <cstring>
#include <string>
#include <vector>

namespace photon {
namespace {

class AmSlotApi : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK);
    ASSERT_EQ(ph_am_register(context_, 5, handle, this), PH_OK);
  }
  void TearDown() override { ph_context_destroy(context_); }

  static ph_status handle(void* user, const ph_am_message* message, ph_am_landing*) {
    const auto* const bytes = static_cast<const char*>(message->payload);
    const auto* const header = static_cast<const char*>(message->header);
    static_cast<AmSlotApi*>(user)->came_.push_back(
        std::string(header, header + message->header_bytes) + "|" +
        std::string(bytes, bytes + message->payload_bytes));
    return PH_OK;
  }
  std::string words() {
    ph_error error{};
    ph_last_error(context_, &error);
    return error.text;
  }

  ph_context* context_ = nullptr;
  std::vector<std::string> came_;
};

TEST_F(AmSlotApi, a_span_is_filled_and_its_message_comes) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{3000}}) {
    ph_am_slot slot{};
    ASSERT_EQ(ph_am_prepare(context_, 0, 3000, 3000, &slot), PH_OK) << words();
    EXPECT_EQ(slot.context, context_);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot.data) % 64, 0u);
    ASSERT_GE(slot.size_bytes, size);
    std::memset(slot.data, 'x', size);
    ASSERT_EQ(ph_am_commit(&slot, 5, {"head", 4}, size), PH_OK) << words();
    while (ph_am_poll(context_, 0) == PH_AGAIN) {
    }
    ASSERT_FALSE(came_.empty());
    EXPECT_EQ(came_.back(), "head|" + std::string(size, 'x'));
    EXPECT_EQ(ph_am_commit(&slot, 5, {}, 0), PH_ERR_STATE);
    EXPECT_NE(words().find("committed or cancelled before"), std::string::npos) << words();
  }
  EXPECT_EQ(came_.size(), 3u);
  EXPECT_EQ(ph_finalize(context_), PH_OK) << words();
}

TEST_F(AmSlotApi, is_refused_without_a_context_and_after_its_end) {
  ph_am_slot slot{};
  slot.data = &slot;
  EXPECT_EQ(ph_am_prepare(nullptr, 0, 1, 8, &slot), PH_ERR_STATE);
  EXPECT_EQ(slot.data, nullptr);
  EXPECT_EQ(ph_am_commit(&slot, 5, {}, 0), PH_ERR_STATE);
  EXPECT_EQ(ph_am_cancel(&slot), PH_ERR_STATE);
  EXPECT_EQ(ph_am_commit(nullptr, 5, {}, 0), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_am_cancel(nullptr), PH_ERR_ARGUMENT);
  ASSERT_EQ(ph_finalize(context_), PH_OK);
  EXPECT_EQ(ph_am_prepare(context_, 0, 1, 8, &slot), PH_ERR_STATE);
}

TEST_F(AmSlotApi, wrong_arguments_are_refused_with_words) {
  ph_am_slot slot{};
  EXPECT_EQ(ph_am_prepare(context_, 0, 1, 8, nullptr), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("slot is null"), std::string::npos) << words();
  EXPECT_EQ(ph_am_prepare(context_, 0, 0, 8, &slot), PH_ERR_ARGUMENT);
  EXPECT_NE(words().find("PHOTON_AM_CARRIED_MAX"), std::string::npos) << words();
  EXPECT_EQ(ph_am_prepare(context_, 1, 1, 8, &slot), PH_ERR_RANK);
  ASSERT_EQ(ph_finalize(context_), PH_OK);
}

TEST_F(AmSlotApi, one_that_is_open_at_the_end_is_said_so) {
  ph_am_slot slot{};
  ASSERT_EQ(ph_am_prepare(context_, 0, 1, 8, &slot), PH_OK);
  EXPECT_EQ(ph_am_prepare(context_, 0, 1, 8, &slot), PH_AGAIN);
  EXPECT_EQ(ph_finalize(context_), PH_ERR_STATE);
  EXPECT_NE(words().find("am_prepare"), std::string::npos) << words();
}

}  // namespace
}  // namespace photon
