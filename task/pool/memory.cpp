#include "task/pool/memory.hpp"

#include <new>

#include "task/pool/layout.hpp"

namespace photon::task {

namespace {

Piece take(void* /*user*/, std::size_t size_bytes) noexcept {
  return {::operator new(size_bytes, std::align_val_t{kLineBytes}, std::nothrow), Origin::heap};
}

void give(void* /*user*/, const Piece& piece, std::size_t /*size_bytes*/) noexcept {
  ::operator delete(piece.base, std::align_val_t{kLineBytes});
}

}  // namespace

Memory heap_memory() noexcept { return {take, give, nullptr}; }

}  // namespace photon::task
