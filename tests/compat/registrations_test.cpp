// Registered memory: counted, found by containment, taken back without touching what is around.
#include <atomic>

#include "classic_job.hpp"
#include "holding_page.hpp"

namespace photon::test {
namespace {

class Registration : public testing::Test {
 protected:
  const photon_buffer_priv_t* keys(std::size_t offset, std::size_t size_bytes) {
    const photon_buffer_priv_t* found = &garbage_;
    const int status = photon_get_buffer_private(memory_ + offset, size_bytes, &found);
    EXPECT_EQ(status, found == nullptr ? PHOTON_ERROR : PHOTON_OK);
    return found;
  }
  int add(std::size_t offset, std::size_t size_bytes) {
    return photon_register_buffer(memory_ + offset, size_bytes);
  }
  int remove(std::size_t offset, std::size_t size_bytes) {
    return photon_unregister_buffer(memory_ + offset, size_bytes);
  }
  unsigned char memory_[4096] = {};
  photon_buffer_priv_t garbage_{1, 2};
  ClassicJob job_{1};
};

TEST_F(Registration, is_found_by_containment_and_a_miss_is_an_error_with_null) {
  job_.run([&](int) {
    ASSERT_EQ(add(100, 1000), PHOTON_OK);
    const auto* whole = keys(100, 1000);
    ASSERT_NE(whole, nullptr);
    EXPECT_EQ(keys(500, 10), whole);
    EXPECT_EQ(keys(1099, 1), whole);
    EXPECT_EQ(keys(99, 10), nullptr);
    EXPECT_EQ(keys(1000, 101), nullptr);
    EXPECT_EQ(remove(100, 1000), PHOTON_OK);
    EXPECT_EQ(keys(500, 10), nullptr);
  });
}

TEST_F(Registration, is_counted) {
  job_.run([&](int) {
    ASSERT_EQ(add(0, 64), PHOTON_OK);
    ASSERT_EQ(add(0, 64), PHOTON_OK);
    const auto* found = keys(0, 64);
    EXPECT_EQ(remove(0, 64), PHOTON_OK);
    EXPECT_EQ(keys(0, 64), found);
    EXPECT_EQ(remove(0, 64), PHOTON_OK);
    EXPECT_EQ(keys(0, 64), nullptr);
    EXPECT_EQ(remove(0, 64), PHOTON_ERROR);
  });
}

// A defect of the original: it dropped the whole region.
TEST_F(Registration, of_a_part_is_taken_back_without_the_whole) {
  job_.run([&](int) {
    ASSERT_EQ(add(0, 4096), PHOTON_OK);
    const auto* whole = keys(0, 4096);
    EXPECT_EQ(remove(64, 64), PHOTON_ERROR);  // was never registered
    EXPECT_EQ(keys(0, 4096), whole);
    ASSERT_EQ(add(64, 64), PHOTON_OK);
    EXPECT_EQ(remove(64, 64), PHOTON_OK);
    EXPECT_EQ(keys(0, 4096), whole);
    EXPECT_EQ(keys(64, 64), whole);
    photon_buffer_t to = {reinterpret_cast<std::uintptr_t>(memory_ + 64), 8, *whole};
    unsigned char source[8] = {7};
    photon_rid rid = 0;
    ASSERT_EQ(photon_post_os_put_direct(0, source, 8, &to, 0, &rid), PHOTON_OK);
    EXPECT_EQ(photon_wait(rid), PHOTON_OK);
    EXPECT_EQ(memory_[64], 7);
    EXPECT_EQ(remove(0, 4096), PHOTON_OK);
  });
}

TEST_F(Registration, keeps_its_keys_where_they_are_until_it_is_taken_back) {
  job_.run([&](int) {
    ASSERT_EQ(add(0, 64), PHOTON_OK);
    const auto* found = keys(0, 64);
    const photon_buffer_priv_t before = *found;
    for (std::size_t i = 1; i < 500; ++i) ASSERT_EQ(add(i, 8), PHOTON_OK);
    EXPECT_EQ(found->key0, before.key0);
    EXPECT_EQ(found->key1, before.key1);
    for (std::size_t i = 1; i < 500; ++i) ASSERT_EQ(remove(i, 8), PHOTON_OK);
    EXPECT_EQ(found->key0, before.key0);
    EXPECT_EQ(remove(0, 64), PHOTON_OK);
  });
}

TEST_F(Registration, of_nothing_is_an_error) {
  job_.run([&](int) {
    EXPECT_EQ(photon_register_buffer(nullptr, 8), PHOTON_ERROR);
    EXPECT_EQ(add(0, 0), PHOTON_ERROR);
    EXPECT_EQ(photon_get_buffer_private(memory_, 8, nullptr), PHOTON_ERROR);
  });
}

// Rank 1 is in the midst of a copy when rank 0, which does not wait for it, takes its memory back.
TEST(RegistrationHeld, by_a_copy_and_registered_again_has_keys_that_serve) {
  if (is_on_hosts(Ground::shm)) GTEST_SKIP() << "no peer of another host copies by itself";
  setenv("PHOTON_UNREGISTER_TIMEOUT_MS", "0", 1);
  ClassicJob job(2);
  HoldingPage into(16);
  std::vector<unsigned char> memory(into.size(), 5);
  std::atomic<std::uint64_t> key{0};
  const auto copy = [&] {
    while (key == 0) ClassicJob::serve();
    // The first answers it, and has met us then: we copy the second ourselves.
    for (const std::size_t size_bytes : {std::size_t{8}, into.size()}) {
      photon_buffer_t from = bare(memory.data(), size_bytes);
      from.priv.key0 = key;
      photon_rid rid = 0;
      ASSERT_EQ(photon_post_os_get_direct(0, into.data(), size_bytes, &from, 0, &rid), PHOTON_OK);
      EXPECT_EQ(photon_wait(rid), PHOTON_OK);
    }
    EXPECT_EQ(into.data()[into.size() - 1], 5) << "what had begun goes on";
  };
  const auto lend_and_take_back = [&] {
    EXPECT_EQ(photon_register_buffer(memory.data(), memory.size()), PHOTON_OK);
    const photon_buffer_priv_t* keys = nullptr;
    EXPECT_EQ(photon_get_buffer_private(memory.data(), memory.size(), &keys), PHOTON_OK);
    const std::uint64_t first = keys->key0;
    key = first;
    into.await_held(ClassicJob::serve);
    EXPECT_NE(photon_unregister_buffer(memory.data(), memory.size()), PHOTON_OK);
    EXPECT_EQ(photon_get_buffer_private(memory.data(), memory.size(), &keys), PHOTON_ERROR);
    EXPECT_EQ(photon_register_buffer(memory.data(), memory.size()), PHOTON_ERROR_RESOURCE);
    into.let_go();
    int status = PHOTON_ERROR_RESOURCE;
    while (status == PHOTON_ERROR_RESOURCE) {
      std::this_thread::yield();
      status = photon_register_buffer(memory.data(), memory.size());
    }
    EXPECT_EQ(status, PHOTON_OK);
    ASSERT_EQ(photon_get_buffer_private(memory.data(), memory.size(), &keys), PHOTON_OK);
    EXPECT_NE(keys->key0, first) << "that one was taken back";
    photon_buffer_t to = bare(memory.data(), memory.size());
    to.priv = *keys;
    unsigned char source[8] = {9};
    photon_rid rid = 0;
    EXPECT_EQ(photon_post_os_put_direct(0, source, 8, &to, 0, &rid), PHOTON_OK);
    EXPECT_EQ(photon_wait(rid), PHOTON_OK);
    EXPECT_EQ(memory[0], 9);
    while (photon_unregister_buffer(memory.data(), memory.size()) == PHOTON_ERROR_RESOURCE)
      std::this_thread::yield();
  };
  job.run([&](int rank) { rank == 0 ? lend_and_take_back() : copy(); });
  unsetenv("PHOTON_UNREGISTER_TIMEOUT_MS");
}

}  // namespace
}  // namespace photon::test
