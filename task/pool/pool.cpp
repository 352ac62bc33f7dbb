#include "task/pool/pool.hpp"

#include <new>

namespace photon::task {

Pool::Pool(std::uint16_t home, const Memory& memory, Returns& returns, std::uint64_t kept_bytes)
    : home_(home),
      memory_(memory),
      returns_(returns),
      chains_(returns.count()),
      kept_limit_(kept_bytes) {
  pieces_.next = pieces_.before = &pieces_;
}

Pool::~Pool() {
  while (pieces_.next != &pieces_) give_piece(pieces_.next);
}

void Pool::flush() noexcept {
  for (std::size_t home = 0; home < chains_.size(); ++home) push_home(home);
  take_returns();
}

Message* Pool::refill(unsigned size_class) noexcept {
  take_returns();
  if (Message* message = lists_[size_class]; message != nullptr) {
    lists_[size_class] = named(message->link);
    if (is_large(size_class)) kept_bytes_ -= SizeClass::size_of(size_class);
    return message;
  }
  return is_large(size_class) ? make_large(size_class) : carve(size_class);
}

Message* Pool::make_large(unsigned size_class) noexcept {
  Taken* piece = take_piece(sizeof(Taken) + SizeClass::size_of(size_class));
  return piece == nullptr ? nullptr : &shape(piece + 1, size_class);
}

// What is left of a slab that is too short goes to the lists, so a slab loses less than a block.
Message* Pool::carve(unsigned size_class) noexcept {
  const std::uint64_t bytes = SizeClass::size_of(size_class);
  if (slab_bytes_ < bytes) {
    Taken* piece = take_piece(kSlabBytes);
    if (piece == nullptr) return nullptr;
    while (slab_bytes_ >= SizeClass::kLeastBytes) {
      const unsigned rest = SizeClass::within(slab_bytes_);
      Message& message = shape(slab_, rest);
      message.link = name_of(lists_[rest]);
      lists_[rest] = &message;
      slab_ += SizeClass::size_of(rest);
      slab_bytes_ -= SizeClass::size_of(rest);
    }
    slab_ = reinterpret_cast<std::byte*>(piece + 1);
    slab_bytes_ = kSlabBytes - sizeof(Taken);
  }
  Message& message = shape(slab_, size_class);
  slab_ += bytes;
  slab_bytes_ -= bytes;
  return &message;
}

Message& Pool::shape(void* at, unsigned size_class) noexcept {
  Chunk& chunk = *new (at) Chunk;
  chunk.room_bytes = SizeClass::size_of(size_class) - kFrontBytes;
  chunk.priority = nullptr;
  chunk.mark = Mark::free;
  chunk.references.start(0);
  chunk.home = home_;
  chunk.size_class = static_cast<std::uint8_t>(size_class);
  chunk.is_queued = 0;
  chunk.reserved = 0;
  return *new (&chunk + 1) Message{};
}

Pool::Taken* Pool::take_piece(std::uint64_t size_bytes) noexcept {
  const Piece taken = memory_.take(memory_.user, size_bytes);
  if (taken.base == nullptr) return nullptr;
  taken_bytes_ += size_bytes;
  auto* piece = new (taken.base) Taken{pieces_.next, &pieces_, size_bytes, taken.origin};
  pieces_.next->before = piece;
  pieces_.next = piece;
  return piece;
}

void Pool::give_piece(Taken* piece) noexcept {
  piece->before->next = piece->next;
  piece->next->before = piece->before;
  taken_bytes_ -= piece->size_bytes;
  memory_.give(memory_.user, {piece, piece->origin}, piece->size_bytes);
}

// Blocks of other sizes, which the program may not need any more, make room for this one.
void Pool::keep_large(Message& message, Chunk& chunk) noexcept {
  const unsigned size_class = chunk.size_class;
  const std::uint64_t bytes = SizeClass::size_of(size_class);
  while (kept_bytes_ + bytes > kept_limit_)
    if (!drop_other(size_class)) return give_piece(reinterpret_cast<Taken*>(&chunk) - 1);
  message.link = name_of(lists_[size_class]);
  lists_[size_class] = &message;
  kept_bytes_ += bytes;
}

bool Pool::drop_other(unsigned size_class) noexcept {
  for (unsigned other = SizeClass::kCount - 1; is_large(other); --other) {
    Message* message = lists_[other];
    if (other == size_class || message == nullptr) continue;
    lists_[other] = named(message->link);
    kept_bytes_ -= SizeClass::size_of(other);
    give_piece(reinterpret_cast<Taken*>(&chunk_of(*message)) - 1);
    return true;
  }
  return false;
}

void Pool::send_home(Message& message, const Chunk& chunk) noexcept {
  Chain& chain = chains_[chunk.home];
  message.link = name_of(chain.newest);
  chain.newest = &message;
  if (chain.oldest == nullptr) chain.oldest = &message;
  chain.size_bytes += SizeClass::size_of(chunk.size_class);
  if (++chain.blocks >= kChainBlocks || chain.size_bytes >= kChainBytes) push_home(chunk.home);
}

void Pool::push_home(std::size_t home) noexcept {
  Chain& chain = chains_[home];
  if (chain.newest != nullptr) returns_.push(home, chain.newest, chain.oldest);
  chain = {};
}

void Pool::take_returns() noexcept {
  Message* message = returns_.take(home_);
  while (message != nullptr) {
    Message* next = named(message->link);
    give(*message);
    message = next;
  }
}

}  // namespace photon::task
