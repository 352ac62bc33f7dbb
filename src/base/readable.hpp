// Whether memory of this process can be read: for when the kernel has said that some of it cannot.
// Owner: none.
#pragma once

#include <cstddef>
#include <span>

namespace photon::base {

// Asks the kernel page by page, by a pipe; false also where no pipe can be had.
bool is_readable(std::span<const std::byte> memory) noexcept;

// Whether there are pages at all; one system call, and none of them is touched.
bool is_mapped(std::span<const std::byte> memory) noexcept;

}  // namespace photon::base
