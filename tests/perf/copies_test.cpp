// The copies of photon-perf's limit programs: all bytes, and no other ones.
#include "copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace photon::perf {
namespace {

constexpr std::size_t kMargin = 128;

std::vector<std::byte> counted(std::size_t bytes, unsigned first) {
  std::vector<std::byte> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>((first + i * 7) % 251);
  return all;
}

void expect_exact(const CopyForm& form, std::size_t size_bytes, std::size_t to_past,
                  std::size_t from_past) {
  const auto source = counted(size_bytes + from_past + 1, 1);
  auto target = counted(size_bytes + 2 * kMargin + to_past, 100);
  auto wanted = target;
  const auto at = static_cast<std::ptrdiff_t>(kMargin + to_past);
  std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from_past), size_bytes,
              wanted.begin() + at);
  form.copy(target.data() + at, source.data() + from_past, size_bytes);
  EXPECT_EQ(target, wanted) << form.name << ", " << size_bytes << " bytes, " << to_past << " and "
                            << from_past << " bytes past";
}

TEST(PerfCopies, copy_all_bytes_and_no_other_ones_whatever_the_alignment) {
  for (const auto forms : {store_forms(), load_forms()}) {
    for (const auto& form : forms) {
      for (const std::size_t size_bytes : {0, 1, 15, 63, 64, 65, 127, 128, 4088, 65536, 300'000}) {
        for (const std::size_t past : {0, 1, 16, 63}) {
          expect_exact(form, size_bytes, past, 0);
          expect_exact(form, size_bytes, past, 5);
        }
      }
    }
  }
}

TEST(PerfCopies, have_names_of_their_own_and_begin_with_memcpy) {
  std::vector<std::string> names;
  for (const auto& form : store_forms()) names.emplace_back(form.name);
  EXPECT_EQ(names.front(), "memcpy");
  EXPECT_EQ(std::string(load_forms().front().name), "memcpy");
  EXPECT_EQ(std::string(widest_non_temporal().name).rfind("non-temporal", 0), 0u);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace photon::perf
