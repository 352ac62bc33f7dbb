#include "boot/address_blob.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "boot/packet.hpp"

namespace photon::test {
namespace {

using boot::AddressBlob;

class AddressBlobTest : public testing::Test {
 protected:
  AddressBlobTest() {
    blob_.rank = 2;
    blob_.size = 4;
    boot::seal(secret_, blob_);
  }
  auto read(const AddressBlob& blob) const {
    return boot::read_blob(boot::bytes_of(blob), secret_, 4);
  }
  static boot::Secret secret(std::string_view text) {
    return boot::job_secret(std::as_bytes(std::span(text)));
  }
  // The status, and words in the error's text.
  static void expect(const base::Result<AddressBlob>& read, ph_status status, const char* words) {
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().status, status) << read.error().what;
    EXPECT_NE(read.error().what.find(words), std::string::npos) << read.error().what;
  }

  static std::string text_of(std::uint32_t version) {
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
  }

  const boot::Secret secret_ = secret("of the job, sixteen bytes");
  AddressBlob blob_;
};

TEST_F(AddressBlobTest, is_read_as_it_was_made) {
  const auto got = read(blob_);
  ASSERT_TRUE(got) << got.error().what;
  EXPECT_EQ(got->rank, 2u);
  EXPECT_EQ(got->endpoint_info.name, blob_.endpoint_info.name);
}

TEST_F(AddressBlobTest, every_bit_that_is_altered_is_noticed) {
  for (std::size_t bit = 0; bit < 8 * sizeof blob_; ++bit) {
    AddressBlob altered = blob_;
    reinterpret_cast<unsigned char*>(&altered)[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
    EXPECT_FALSE(read(altered)) << bit;
  }
  AddressBlob altered = blob_;
  altered.rank = 3;
  expect(read(altered), PH_ERR_ARGUMENT, "damaged");
  altered = blob_;
  altered.magic = 0;
  expect(read(altered), PH_ERR_ARGUMENT, "no address");
}

TEST_F(AddressBlobTest, every_length_but_its_own_is_refused) {
  std::vector<std::byte> bytes(sizeof blob_ + 100);
  std::ranges::copy(boot::bytes_of(blob_), bytes.begin());
  for (std::size_t size = 0; size <= bytes.size(); ++size)
    EXPECT_EQ(static_cast<bool>(boot::read_blob(std::span(bytes).first(size), secret_, 4)),
              size == sizeof blob_)
        << size;
  expect(boot::read_blob(std::span(bytes).first(100), secret_, 4), PH_ERR_ARGUMENT, "cut off");
}

TEST_F(AddressBlobTest, another_version_is_named_whatever_else_differs) {
  AddressBlob altered = blob_;
  altered.version = boot::kBlobVersion + 1;
  boot::seal(secret_, altered);
  expect(read(altered), PH_ERR_BOOTSTRAP, "version");
  altered = blob_;
  altered.library = 99'00'00;
  expect(read(altered), PH_ERR_BOOTSTRAP, "99.0.0");
  expect(read(altered), PH_ERR_BOOTSTRAP, text_of(ph_version()).c_str());
  // One patch more or less is the same; the seal says that it was altered.
  altered.library = ph_version() + 1;
  expect(read(altered), PH_ERR_ARGUMENT, "damaged");
  altered.library = 99'00'00;
  // A later one may be longer, or shorter.
  expect(boot::read_blob(boot::bytes_of(altered).first(16), secret_, 4), PH_ERR_BOOTSTRAP,
         "99.0.0");
}

TEST_F(AddressBlobTest, another_job_another_size_and_a_rank_beyond_it_are_told_apart) {
  AddressBlob other = blob_;
  boot::seal(secret("of another job, as long"), other);
  expect(read(other), PH_ERR_BOOTSTRAP, "another job");
  other = blob_;
  other.size = 5;
  boot::seal(secret_, other);
  expect(read(other), PH_ERR_BOOTSTRAP, "5 ranks");
  other = blob_;
  other.rank = 4;
  boot::seal(secret_, other);
  expect(read(other), PH_ERR_RANK, "rank 4");
}

TEST_F(AddressBlobTest, the_secret_is_in_nothing_that_is_made_of_it) {
  EXPECT_NE(secret_, boot::sender_key(secret_, blob_.endpoint_info.name));
  EXPECT_NE(boot::sender_key(secret_, {}), boot::sender_key(secret_, {std::byte{1}}));
  EXPECT_NE(secret("one"), secret("two"));
}

}  // namespace
}  // namespace photon::test
