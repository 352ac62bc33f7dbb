// What the cases of reconverse_calls share: words for what is wrong, waiting that ends, bytes that
// say where they are from.
// Owner: a test program. Threads: any.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "chunks.hpp"
#include "interop/reconverse/comm_backend.h"

namespace photon::test {

using Bytes = std::vector<unsigned char>;

[[noreturn]] inline void wrong(const char* what) {
  std::fprintf(stderr, "node %d: wrong: %s\n", comm_backend::getMyNodeId(), what);
  ::_exit(1);
}

inline void expect(bool is_so, const char* what) {
  if (!is_so) wrong(what);
}

// Makes progress until it is so.
template <class Done>
void await(Done is_done, const char* what) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(50);
  while (!is_done()) {
    comm_backend::progress();
    if (std::chrono::steady_clock::now() > deadline) wrong(what);
  }
}

inline void fill(void* memory, std::size_t size_bytes, unsigned seed) {
  auto* const bytes = static_cast<unsigned char*>(memory);
  for (std::size_t i = 0; i < size_bytes; ++i)
    bytes[i] = static_cast<unsigned char>(seed * 31 + i * 7 + (i >> 8));
}

inline bool is_filled(const void* memory, std::size_t size_bytes, unsigned seed) {
  const auto* const bytes = static_cast<const unsigned char*>(memory);
  for (std::size_t i = 0; i < size_bytes; ++i)
    if (bytes[i] != static_cast<unsigned char>(seed * 31 + i * 7 + (i >> 8))) return false;
  return true;
}

inline Bytes filled(std::size_t size_bytes, unsigned seed) {
  Bytes bytes(size_bytes);
  fill(bytes.data(), size_bytes, seed);
  return bytes;
}

inline void free_message(const comm_backend::Status& status) {
  free_chunk(const_cast<void*>(status.local_buf));
}

// A region of each node, told to all others by messages.
struct Descriptor {
  unsigned char bytes[24];
};

class Regions {
 public:
  // Registers its handler. exchange() is collective, and may be called once.
  Regions();
  void exchange(void* memory, std::size_t size_bytes);

  comm_backend::mr_t own() const { return own_; }
  void* of(int node) { return all_[static_cast<std::size_t>(node)].descriptor.bytes; }
  // Where that node's region begins, in its own memory.
  void* address(int node) {
    return reinterpret_cast<void*>(all_[static_cast<std::size_t>(node)].address);
  }

 private:
  struct Told {
    int node;
    std::uint64_t address;
    Descriptor descriptor;
  };

  static inline std::vector<Told> all_;       // one job in a process
  static inline std::atomic<int> heard_ = 0;  // changed in handlers
  comm_backend::AmHandler handler_;
  comm_backend::mr_t own_ = comm_backend::MR_NULL;
};

// The cases, by the names that main() knows.
void sizes();
void barrier();
void threads();
void twice();
void many_jobs();
void alone();
void moves();
void landed();
void descriptor();
void live_registrations();
void full_queues();
void left_behind();
void no_such_node();
void no_such_handler();
void no_such_region();
void taken_back_twice();
void little_room();

}  // namespace photon::test
