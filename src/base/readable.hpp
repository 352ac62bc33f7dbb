// Whether memory of this process can be read or written, asked of the kernel: a caller's memory may
// have been unmapped or protected, and a processor's copy would end the process.
// The answer is that of the moment. Owner: none.
#pragma once

#include <cstddef>
#include <span>

namespace photon::base {

// One system call for every two pages (some 100 ns). Where the kernel does not say, yes.
bool is_readable(std::span<const std::byte> memory) noexcept;

// As above, for memory that is about to be overwritten: 8 bytes of each page are written back
// as they are, so nobody else may write there meanwhile. No byte outside of it is touched.
bool is_writable(std::span<std::byte> memory) noexcept;

// Whether there are pages at all; one system call, and none of them is touched.
bool is_mapped(std::span<const std::byte> memory) noexcept;

}  // namespace photon::base
