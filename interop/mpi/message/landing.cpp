#include "interop/mpi/message/landing.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "interop/mpi/window/in_function.hpp"

namespace photon::mpi {

namespace {

const Layout kNothing{};

int class_of(ph_status status) noexcept {
  return status == PH_ERR_MEMORY ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

// So many elements hold the payload.
std::uint64_t elements_for(std::uint64_t bytes, std::uint64_t element_bytes) noexcept {
  if (bytes == 0) return 0;
  return element_bytes == 0 ? UINT64_MAX : (bytes + element_bytes - 1) / element_bytes;
}

Fault check(const MPIX_Am_landing& named, const Layout* layout, std::uint64_t bytes) noexcept {
  const std::uint64_t needed = elements_for(bytes, layout == nullptr ? 1 : layout->size_bytes);
  if (named.count < 0 || named.chunk_bytes < 0 ||
      (layout == nullptr) != (named.layout == MPIX_AM_LAYOUT_NULL))
    return Fault::bad_landing;
  if (static_cast<std::uint64_t>(named.count) < needed) return Fault::too_small;
  // With MPI_BOTTOM a layout's offsets are addresses; others name no memory without a buffer.
  constexpr std::uintptr_t kNoMemory = 4096;
  const std::byte* const first = place_at(named.buffer, layout == nullptr ? 0 : layout->first);
  const bool is_null =
      named.buffer == nullptr && reinterpret_cast<std::uintptr_t>(first) < kNoMemory;
  return is_null && bytes != 0 ? Fault::bad_landing : Fault::none;
}

// What a completion handler is told of that.
int class_of(Fault fault) noexcept {
  if (fault == Fault::too_small) return MPI_ERR_TRUNCATE;
  return fault == Fault::no_memory ? MPI_ERR_NO_MEM : MPI_ERR_ARG;
}

void refuse(const MPIX_Am_landing& named, Fault fault) {
  if (named.comp_handler == nullptr) return;
  const MPIX_Am_part part{0, 0, nullptr, class_of(fault), 1};
  const InFunction scope;
  named.comp_handler(named.argument, &part);
}

}  // namespace

Fault Landing::land(AmServer& server, const Message& message, const MPIX_Am_landing& named,
                    ph_am_landing& landing) {
  std::shared_ptr<const Layout> layout = server.layouts().find(named.layout);
  Fault fault = check(named, layout.get(), message.bytes);
  if (fault == Fault::none && (message.payload != nullptr || message.bytes == 0))
    return Landing(server, message, named, std::move(layout)).take();
  if (fault == Fault::none) {
    try {
      std::unique_ptr<Landing> one(new Landing(server, message, named, std::move(layout)));
      one->offer(landing);
      static_cast<void>(one.release());
      return Fault::none;
    } catch (const std::bad_alloc&) {
      fault = Fault::no_memory;
    }
  }
  refuse(named, fault);
  return fault;
}

Landing::Landing(AmServer& server, const Message& message, const MPIX_Am_landing& named,
                 std::shared_ptr<const Layout> layout)
    : server_(server),
      message_(message),
      named_(named),
      layout_(std::move(layout)),
      place_(layout_ == nullptr ? static_cast<std::byte*>(named.buffer) : nullptr),
      next_(layout_ == nullptr
                ? Elements{&kNothing, 0}
                : Elements{layout_.get(), elements_for(message.bytes, layout_->size_bytes)}) {
  if (layout_ != nullptr && layout_->is_contiguous) place_ = place_at(named.buffer, layout_->first);
  if (named_.chunk_bytes == 0 || message_.bytes == 0)
    named_.chunk_bytes = std::max<MPI_Count>(1, static_cast<MPI_Count>(message_.bytes));
}

Fault Landing::take() {
  if (place_ != nullptr && message_.bytes != 0)
    std::memcpy(place_, message_.payload, message_.bytes);
  else
    copy_out(message_.payload, message_.bytes);
  tell_parts(message_.bytes);
  return failure_ == MPI_SUCCESS ? Fault::none : Fault::comp_handler;
}

void Landing::offer(ph_am_landing& landing) {
  const auto chunk = static_cast<std::uint64_t>(named_.chunk_bytes);
  if (place_ != nullptr) {
    landing.buffer = place_;
    landing.buffer_bytes = message_.bytes;
    landing.chunk_bytes = chunk < message_.bytes ? chunk : 0;
  } else if (chunk >= message_.bytes && list_blocks()) {
    landing.blocks = blocks_.data();
    landing.blocks_count = static_cast<std::uint32_t>(blocks_.size());
  } else {
    constexpr std::uint64_t kLeastBytes = 4 << 10;
    const std::uint64_t bytes = std::clamp<std::uint64_t>(chunk, kLeastBytes, kPlaceBytes);
    ring_.resize(kRingPlaces * bytes);
    landing.flags |= PH_AM_CYCLE;
    landing.buffer = ring_.data();
    landing.buffer_bytes = ring_.size();
    landing.chunk_bytes = bytes;
  }
  landing.flags &= ~PH_AM_DROP;
  landing.done = on_part;
  landing.argument = this;
}

bool Landing::list_blocks() {
  Cursor run = next_;
  for (std::uint64_t left = message_.bytes; left != 0;) {
    const std::uint64_t bytes = std::min<std::uint64_t>(left, run.bytes());
    if (blocks_.size() == PH_AM_BLOCKS || (bytes < kRunBytes && bytes != left)) {
      blocks_.clear();
      return false;
    }
    blocks_.push_back({place_at(named_.buffer, run.offset()), bytes});
    run.advance(bytes);
    left -= bytes;
  }
  return true;
}

void Landing::copy_out(const std::byte* from, std::size_t bytes) noexcept {
  while (bytes != 0) {
    const std::size_t now = std::min(bytes, next_.bytes());
    std::memcpy(place_at(named_.buffer, next_.offset()), from, now);
    next_.advance(now);
    from += now;
    bytes -= now;
  }
}

// What the handler returns.
int Landing::tell(std::uint64_t bytes, int error, bool is_last) {
  if (named_.comp_handler == nullptr) return MPI_SUCCESS;
  const bool has_place = place_ != nullptr && error == MPI_SUCCESS && bytes != 0;
  const MPIX_Am_part part{static_cast<MPI_Count>(told_), static_cast<MPI_Count>(bytes),
                          has_place ? place_ + told_ : nullptr, error, is_last ? 1 : 0};
  const InFunction scope;
  return named_.comp_handler(named_.argument, &part);
}

// True: all has been told, or there was an error behind which nothing has to be told any more.
bool Landing::tell_parts(std::uint64_t landed) {
  const auto chunk = static_cast<std::uint64_t>(named_.chunk_bytes);
  do {
    const std::uint64_t bytes = std::min(chunk, message_.bytes - told_);
    const bool is_last = told_ + bytes == message_.bytes;
    if (told_ + bytes > landed) return false;
    failure_ = tell(bytes, MPI_SUCCESS, is_last);
    told_ += bytes;
    if (is_last) return true;
  } while (failure_ == MPI_SUCCESS);
  if (landed != message_.bytes) return false;
  tell(0, failure_, true);
  return true;
}

ph_status Landing::on_part(void* landing, const ph_am_message* /*message*/,
                           const ph_am_part* part) {
  return static_cast<Landing*>(landing)->came(*part);
}

ph_status Landing::came(const ph_am_part& part) {
  if (part.status != PH_OK) {
    tell(0, failure_ != MPI_SUCCESS ? failure_ : class_of(part.status), true);
    end(failure_ != MPI_SUCCESS ? Fault::comp_handler : Fault::cut_off);
    return PH_OK;
  }
  if (!ring_.empty()) copy_out(static_cast<const std::byte*>(part.data), part.size_bytes);
  if (tell_parts(part.offset + part.size_bytes)) {
    end(failure_ == MPI_SUCCESS ? Fault::none : Fault::comp_handler);
    return PH_OK;
  }
  return failure_ == MPI_SUCCESS ? PH_OK : PH_ERR_ARGUMENT;
}

void Landing::end(Fault fault) {
  server_.end(*message_.circle, message_.source, fault);
  delete this;
}

}  // namespace photon::mpi
