// libfabric itself, by whatever provider is here.
#include "transport/ofi/fabric.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "watchdog.hpp"

namespace photon::transport::ofi {
namespace {

FabricWants wants(std::string_view provider) {
  return {.provider = provider,
          .domain = "auto",
          .is_one_host = true,
          .peers_count = 1,
          .sends_count = 4,
          .receives_count = 4};
}

class FabricTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_fabric()) GTEST_SKIP() << "this build has no libfabric";
    if (::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr)
      GTEST_SKIP() << "ThreadSanitizer does not see the orderings within libfabric";
  }

  photon::test::Watchdog watchdog_{std::chrono::seconds(60)};
};

TEST_F(FabricTest, a_provider_that_there_is_not_is_an_error_that_says_what_there_is) {
  const auto opened = open_fabric(wants("no-such-provider"));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().status, PH_ERR_CONFIG);
  EXPECT_NE(opened.error().what.find("no-such-provider"), std::string::npos);
  const auto any = open_fabric(wants("auto"));
  if (!any) GTEST_SKIP() << "no provider here: " << any.error().what;
  EXPECT_NE(opened.error().what.find((*any)->traits().provider), std::string::npos)
      << opened.error().what;
}

TEST_F(FabricTest, a_message_arrives_whole_and_its_operation_comes_back) {
  auto a = open_fabric(wants("auto")), b = open_fabric(wants("auto"));
  if (!a || !b) GTEST_SKIP() << "no provider here: " << a.error().what;
  std::vector<std::byte> source(4096, std::byte{7}), into(4096);
  const auto shown = (*a)->show(source, Fabric::Use::messages),
             shown_too = (*b)->show(into, Fabric::Use::messages);
  ASSERT_TRUE(shown && shown_too);
  Operation sent, received;
  sent.rank = 1;
  ASSERT_EQ((*b)->receive({into, *shown_too}, received), Fabric::Taken::yes);
  const auto to = (*a)->insert((*b)->address(0));
  ASSERT_TRUE(to) << to.error().what;
  std::vector<Operation*> over;
  std::size_t came_bytes = 0;
  bool is_taken = false;
  while (over.size() < 2) {
    if (!is_taken)
      is_taken =
          (*a)->send({*to}, {std::span(source).first(4000), *shown}, sent) == Fabric::Taken::yes;
    for (auto* fabric : {a->get(), b->get()}) {
      Completion completions[4];
      std::size_t count = 0;
      ASSERT_EQ(fabric->read(completions, count), Fabric::Got::some) << fabric->words();
      for (std::size_t i = 0; i < count; ++i) {
        over.push_back(completions[i].operation);
        if (completions[i].operation == &received) came_bytes = completions[i].size_bytes;
      }
    }
  }
  EXPECT_EQ(came_bytes, 4000u);
  EXPECT_NE(std::find(over.begin(), over.end(), &sent), over.end());
  EXPECT_EQ(into[3999], std::byte{7});
  EXPECT_EQ(into[4000], std::byte{0});
  for (auto* fabric : {a->get(), b->get()}) fabric->stop();
  if (*shown != 0) (*a)->hide(*shown);
  if (*shown_too != 0) (*b)->hide(*shown_too);
}

}  // namespace
}  // namespace photon::transport::ofi
