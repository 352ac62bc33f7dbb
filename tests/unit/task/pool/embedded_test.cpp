#include "task/pool/embedded.hpp"

#include <gtest/gtest.h>

#include "task/pool/pool.hpp"

namespace photon::task {
namespace {

TEST(TaskEmbedded, the_enclosing_block_is_freed_once_with_its_last_part) {
  Returns returns{1};
  Pool pool{0, heap_memory(), returns, 0};
  Message& all = *pool.alloc(3 * 128);
  chunk_of(all).references.start(3);
  Message* parts[3];
  for (std::uint32_t i = 0; i < 3; ++i)
    parts[i] = &embed(all, 128 * i, {40, 7 + i, 3, Kind::program});
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(&enclosing(*parts[i]), &all);
    EXPECT_EQ(parts[i]->size_bytes, 40u);
    EXPECT_EQ(parts[i]->source, 3u);
    EXPECT_EQ(parts[i]->wire.handler, 7 + i);
    EXPECT_EQ(body_of(*parts[i]), body_of(all) + 128 * i + kFrontBytes);
  }
  EXPECT_EQ(pool.free(*parts[1]), Pool::Freed::kept);
  EXPECT_EQ(pool.free(*parts[2]), Pool::Freed::kept);
  EXPECT_EQ(chunk_of(all).mark, Mark::live);
  EXPECT_EQ(pool.free(*parts[0]), Pool::Freed::over);
  EXPECT_EQ(chunk_of(all).mark, Mark::free);
  EXPECT_EQ(pool.free(*parts[1]), Pool::Freed::unheld) << "a part that was freed twice";
}

}  // namespace
}  // namespace photon::task
