// Joining by addresses, through the C ABI.
#include <photon/photon.h>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace photon::test {
namespace {

constexpr char kSecret[] = "nobody guesses what this job knows";

// A rank over shared memory alone, which needs no network.
class Joined {
 public:
  explicit Joined(ph_rank rank, std::uint32_t ranks_count = 2, const char* secret = kSecret) {
    const ph_job job{sizeof job, rank, ranks_count, secret, std::strlen(secret)};
    const ph_option option{"transport", "shm"};
    const ph_config config = {sizeof config, nullptr, &option, 1};
    ph_error error{};
    EXPECT_EQ(ph_context_join(&job, &config, &context_, &error), PH_OK) << error.text;
  }
  ~Joined() { ph_context_destroy(context_); }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

  ph_context* get() const { return context_; }
  std::vector<char> address() const {
    std::vector<char> bytes(PH_MAX_ADDRESS_BYTES);
    std::size_t size_bytes = 0;
    EXPECT_EQ(ph_address(context_, bytes.data(), bytes.size(), &size_bytes), PH_OK);
    bytes.resize(size_bytes);
    return bytes;
  }
  ph_status take(const std::vector<char>& address, ph_rank* rank = nullptr) const {
    return ph_connect(context_, address.data(), address.size(), rank);
  }
  std::string words() const {
    ph_error error{};
    ph_last_error(context_, &error);
    return error.text;
  }
  // A notice of the peer, served by both.
  ph_completion await(ph_rank peer, const Joined& other) const {
    ph_completion found{};
    std::size_t count = 0;
    for (int i = 0; i < 1'000'000 && count == 0; ++i) {
      std::size_t none = 0;
      EXPECT_EQ(ph_probe(context_, {peer, PH_REMOTE, nullptr}, &found, 1, &count), PH_OK);
      EXPECT_EQ(ph_probe(other.context_, {peer, PH_LOCAL, nullptr}, &found, 0, &none), PH_OK);
    }
    EXPECT_EQ(count, 1u);
    return found;
  }

 private:
  ph_context* context_ = nullptr;
};

TEST(AddressApi, one_address_is_enough_for_words_both_ways) {
  const Joined zero(0), one(1);
  EXPECT_EQ(ph_rank_of(one.get()), 1u);
  EXPECT_EQ(ph_size_of(one.get()), 2u);
  ph_rank rank = 99;
  ASSERT_EQ(zero.take(one.address(), &rank), PH_OK);
  EXPECT_EQ(rank, 1u);
  ASSERT_EQ(ph_notify(zero.get(), 1, 42), PH_OK);
  EXPECT_EQ(one.await(0, zero).id, 42u);
  ASSERT_EQ(ph_notify(one.get(), 0, 43), PH_OK);
  EXPECT_EQ(zero.await(1, one).id, 43u);
  EXPECT_EQ(ph_finalize(zero.get()), PH_OK);
  EXPECT_EQ(ph_finalize(one.get()), PH_OK);
}

TEST(AddressApi, an_operation_to_a_rank_without_an_address_starts_nothing) {
  const Joined zero(0), one(1);
  EXPECT_EQ(ph_notify(zero.get(), 1, 5), PH_ERR_NOT_FOUND);
  EXPECT_NE(zero.words().find("ph_connect"), std::string::npos) << zero.words();
  EXPECT_EQ(ph_wait(zero.get(), {1, PH_EITHER, nullptr}, 1000), PH_TIMEOUT);
  ph_path path{};
  path.size = sizeof path;
  ASSERT_EQ(ph_path_to(zero.get(), 1, &path), PH_OK);
  EXPECT_STREQ(path.state, "unknown");
  EXPECT_NE(std::string(path.reason).find("ph_connect"), std::string::npos) << path.reason;
  ASSERT_EQ(zero.take(one.address()), PH_OK);
  ASSERT_EQ(ph_notify(zero.get(), 1, 6), PH_OK);
  EXPECT_EQ(one.await(0, zero).id, 6u);
}

TEST(AddressApi, a_lane_has_the_addresses_of_its_context) {
  const Joined zero(0), one(1);
  ph_context* lane = nullptr;
  ASSERT_EQ(ph_lane_open(zero.get(), 3, &lane), PH_OK);
  EXPECT_EQ(ph_notify(lane, 1, 5), PH_ERR_NOT_FOUND);
  ASSERT_EQ(zero.take(one.address()), PH_OK);
  EXPECT_EQ(ph_notify(lane, 1, 5), PH_OK);
}

TEST(AddressApi, bad_addresses_are_refused_in_words) {
  const Joined zero(0), one(1), stranger(1, 2, "another secret altogether"), more(1, 3), twin(1);
  auto bytes = one.address();
  bytes.pop_back();
  EXPECT_EQ(zero.take(bytes), PH_ERR_ARGUMENT);
  bytes = one.address();
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  ph_rank rank = 99;
  EXPECT_EQ(zero.take(bytes, &rank), PH_ERR_ARGUMENT);
  EXPECT_EQ(rank, 99u);
  EXPECT_EQ(zero.take(stranger.address()), PH_ERR_BOOTSTRAP);
  EXPECT_NE(zero.words().find("another job"), std::string::npos) << zero.words();
  EXPECT_EQ(zero.take(more.address()), PH_ERR_BOOTSTRAP);
  EXPECT_EQ(ph_connect(zero.get(), nullptr, 5, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_notify(zero.get(), 1, 5), PH_ERR_NOT_FOUND);
  EXPECT_EQ(zero.take(one.address()), PH_OK);
  EXPECT_EQ(zero.take(one.address()), PH_OK);
  EXPECT_EQ(zero.take(zero.address()), PH_OK);
  EXPECT_EQ(zero.take(twin.address()), PH_ERR_BOOTSTRAP);
}

// Where an address says which library has made it is the same in all versions.
TEST(AddressApi, the_address_of_another_version_is_refused_with_both) {
  constexpr std::size_t kLibraryAt = 12;
  const Joined zero(0), one(1);
  auto bytes = one.address();
  const std::uint32_t own = ph_version(), other = own + 100;
  ASSERT_EQ(std::memcmp(&bytes[kLibraryAt], &own, sizeof own), 0);
  std::memcpy(&bytes[kLibraryAt], &other, sizeof other);
  EXPECT_EQ(zero.take(bytes), PH_ERR_BOOTSTRAP);
  for (const std::uint32_t version : {own, other}) {
    const std::string text =
        std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + ".";
    EXPECT_NE(zero.words().find(text), std::string::npos) << zero.words();
  }
  EXPECT_EQ(zero.take(one.address()), PH_OK) << "nothing was changed";
}

TEST(AddressApi, room_that_is_too_small_is_told_with_the_size) {
  const Joined zero(0);
  char small[8];
  std::size_t size_bytes = 0;
  EXPECT_EQ(ph_address(zero.get(), small, sizeof small, &size_bytes), PH_ERR_RANGE);
  EXPECT_EQ(size_bytes, zero.address().size());
  EXPECT_LE(size_bytes, std::size_t{PH_MAX_ADDRESS_BYTES});
  EXPECT_EQ(ph_address(zero.get(), nullptr, 0, &size_bytes), PH_ERR_ARGUMENT);
}

TEST(AddressApi, collectives_are_refused_and_so_are_addresses_in_other_jobs) {
  const Joined zero(0);
  EXPECT_EQ(ph_barrier(zero.get()), PH_ERR_STATE);
  int mine = 0, all[2];
  EXPECT_EQ(ph_allgather(zero.get(), &mine, all, sizeof mine), PH_ERR_STATE);
  ph_context* alone = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &alone, nullptr), PH_OK);
  char bytes[PH_MAX_ADDRESS_BYTES];
  std::size_t size_bytes = 0;
  EXPECT_EQ(ph_address(alone, bytes, sizeof bytes, &size_bytes), PH_ERR_STATE);
  const auto address = zero.address();
  EXPECT_EQ(ph_connect(alone, address.data(), address.size(), nullptr), PH_ERR_STATE);
  ph_context_destroy(alone);
}

TEST(AddressApi, a_job_that_is_none_is_refused) {
  ph_context* context = nullptr;
  ph_error error{};
  EXPECT_EQ(ph_context_join(nullptr, nullptr, &context, &error), PH_ERR_ARGUMENT);
  ph_job job{sizeof job, 2, 2, kSecret, sizeof kSecret};
  EXPECT_EQ(ph_context_join(&job, nullptr, &context, &error), PH_ERR_ARGUMENT);
  EXPECT_EQ(context, nullptr);
  job.rank = 0;
  job.secret_bytes = 3;
  EXPECT_EQ(ph_context_join(&job, nullptr, &context, &error), PH_ERR_ARGUMENT);
  job.secret_bytes = sizeof kSecret;
  job.size = 1;
  EXPECT_EQ(ph_context_join(&job, nullptr, &context, &error), PH_ERR_ARGUMENT);
  job.size = sizeof job;
  EXPECT_EQ(ph_context_join(&job, nullptr, nullptr, &error), PH_ERR_ARGUMENT);
  const ph_bootstrap bootstrap{};
  const ph_config both = {sizeof both, &bootstrap, nullptr, 0};
  EXPECT_EQ(ph_context_join(&job, &both, &context, &error), PH_ERR_ARGUMENT);
}

}  // namespace
}  // namespace photon::test
