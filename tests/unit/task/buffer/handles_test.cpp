#include "task/buffer/handles.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::task {
namespace {

TEST(TaskHandles, a_name_finds_its_buffer_until_it_is_freed) {
  Handles handles;
  std::vector<ph_task_buffer> names;
  for (int i = 0; i < 1000; ++i) {
    Handle* handle = handles.make();
    ASSERT_NE(handle, nullptr);
    handle->size_bytes = static_cast<std::uint64_t>(i);
    names.push_back(handle->name());
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_NE(handles.find(names[i]), nullptr);
    EXPECT_EQ(handles.find(names[i])->size_bytes, i);
  }
  handles.free(*handles.find(names[7]));
  EXPECT_EQ(handles.find(names[7]), nullptr);
  Handle* again = handles.make();
  EXPECT_EQ(again->slot, names[7] & kMostGeneration) << "the slot is used again";
  EXPECT_NE(again->name(), names[7]);
  EXPECT_EQ(again->size_bytes, 0u);
  EXPECT_EQ(handles.find(names[7]), nullptr);
  EXPECT_EQ(handles.find(ph_task_buffer{0}), nullptr);
  EXPECT_EQ(handles.find(again->name() | std::uint64_t{1} << 63), nullptr);
}

TEST(TaskHandles, siblings_see_what_is_shown_and_nothing_else) {
  Handles handles;
  Handle& handle = *handles.make();
  std::byte bytes[8];
  handle.address = bytes;
  handle.size_bytes = sizeof bytes;
  sync::RegionView view;
  EXPECT_FALSE(handles.read(handle.slot, handle.generation, view)) << "it is hidden";
  handles.show(handle);
  ASSERT_TRUE(handles.read(handle.slot, handle.generation, view));
  EXPECT_EQ(view.address, reinterpret_cast<std::uintptr_t>(bytes));
  EXPECT_EQ(view.size_bytes, sizeof bytes);
  EXPECT_FALSE(handles.read(handle.slot, handle.generation + 1, view));
  EXPECT_FALSE(handles.read(handle.slot + 1, handle.generation, view));
  EXPECT_FALSE(handles.read(handle.slot, 0, view));
  for (const std::uint32_t slot : {64U, 1U << 20, kMostSlots - 1, kMostSlots, ~0U})
    EXPECT_FALSE(handles.read(slot, 1, view)) << "a descriptor may name any slot";
  const std::uint32_t slot = handle.slot;
  const std::uint32_t generation = handle.generation;
  handles.free(handle);
  EXPECT_FALSE(handles.read(slot, generation, view));
  EXPECT_FALSE(handles.read(slot, 0, view)) << "what is free has no name";
}

TEST(TaskHandles, a_slot_whose_generation_would_wrap_is_not_used_again) {
  Handles handles;
  Handle* handle = handles.make();
  const std::uint32_t slot = handle->slot;
  handle->generation = kMostGeneration;  // as after as many buffers
  const ph_task_buffer last = handle->name();
  EXPECT_EQ(handles.find(last), handle);
  handles.free(*handle);
  EXPECT_EQ(handles.find(last), nullptr);
  for (int i = 0; i < 100; ++i) EXPECT_NE(handles.make()->slot, slot);
}

}  // namespace
}  // namespace photon::task
