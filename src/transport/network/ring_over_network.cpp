#include "transport/network/ring_over_network.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "wire/bulk_place.hpp"
#include "wire/record.hpp"

namespace photon::transport::network {

namespace {

using State = sync::LineConsumer<Policy>::State;

static_assert(sizeof(Line) == kLineBytes);

// Whether what ends at `end` is no more than a ring beyond what was given back.
constexpr bool has_room(std::uint64_t end, std::uint64_t given_back,
                        std::uint64_t ring_size) noexcept {
  return given_back <= end && end - given_back <= ring_size;
}

// As many bytes from here on as the position has come since. Memory that was never touched stays
// so.
void fetch_behind(const std::byte* ring, std::uint64_t ring_bytes, std::uint64_t position,
                  std::uint64_t& since) noexcept {
  constexpr std::uint64_t kMostBytes = 4096;
  const std::uint64_t bytes = std::min(position - since, kMostBytes);
  since = position;
  const std::uint64_t begin = position & (ring_bytes - 1);
  const std::uint64_t end = std::min(begin + bytes, ring_bytes);
  for (std::uint64_t at = begin; at < end; at += kLineBytes) __builtin_prefetch(ring + at, 1);
}

}  // namespace

base::Result<std::unique_ptr<RingOverNetwork>> RingOverNetwork::make(const base::Config& config,
                                                                     bool is_self) {
  const Shape shape{static_cast<unsigned>(std::countr_zero(config.ring_lines)), config.bulk_bytes,
                    is_self ? std::size_t{1} : std::size_t{2}};
  void* memory = ::mmap(nullptr, shape.size_bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    base::Error error = base::system_error("memory for a link");
    error.status = PH_ERR_MEMORY;
    return error;
  }
  return std::unique_ptr<RingOverNetwork>(
      new RingOverNetwork(shape, static_cast<std::byte*>(memory)));
}

RingOverNetwork::RingOverNetwork(const Shape& shape, std::byte* memory) noexcept
    : shape_(shape), memory_(memory) {
  // Zeroed memory is what these look like at their begin.
  const std::size_t receiving = shape.halves - 1;
  const auto credits_at = [](std::byte* at) {
    return std::launder(reinterpret_cast<Credits*>(at));
  };
  const auto lines_at = [](std::byte* at) { return std::launder(reinterpret_cast<Line*>(at)); };
  sending_credits_ = credits_at(memory);
  view_.tx_credits = sending_credits_;
  view_.tx_lines = lines_at(memory + shape.lines_at());
  view_.tx_bulk = memory + shape.bulk_at();
  view_.kick_always = true;
  receiving_credits_ = credits_at(memory + receiving * sizeof(Credits));
  receiving_lines_ = lines_at(memory + shape.lines_at() + receiving * shape.lines_bytes());
  receiving_bulk_ = memory + shape.bulk_at() + receiving * shape.bulk_bytes;
  reader_ = sync::LineConsumer<Policy>(view_.tx_lines, nullptr, shape.lines_log2);
}

RingOverNetwork::~RingOverNetwork() { ::munmap(memory_, shape_.size_bytes()); }

void RingOverNetwork::set_answered() noexcept {
  view_.rx_lines = receiving_lines_;
  view_.rx_credits = receiving_credits_;
  view_.rx_bulk = receiving_bulk_;
}

std::span<const std::byte> RingOverNetwork::bytes_of(std::uint64_t position,
                                                     std::uint64_t lines_count) const {
  const std::uint64_t mask = (std::uint64_t{1} << shape_.lines_log2) - 1;
  const auto* first = reinterpret_cast<const std::byte*>(view_.tx_lines + (position & mask));
  return {first, lines_count * kLineBytes};
}

bool RingOverNetwork::has_run() noexcept { return !broken_ && reader_.peek() != State::empty; }

RingOverNetwork::Run RingOverNetwork::next_run(std::uint32_t most_lines) noexcept {
  Run run;
  const std::uint64_t begin = reader_.head();
  while (run.lines_count + wire::kMaxLines <= most_lines && run.bulk.empty()) {
    const State state = broken_ ? State::empty : reader_.peek();
    if (state == State::empty) break;
    const auto header =
        state == State::record ? wire::decode(reader_.header()) : std::optional<wire::Header>();
    if (!header) {
      broken_ = true;
      ++run.lines_count;
      break;
    }
    if (wire::announces_bulk(header->kind)) {
      const auto bytes = wire::bulk_size(reader_.line(0).words[wire::kBulkSizeWord].get());
      if (bytes != 0 && run.lines_count != 0) break;  // a run of its own
      if (bytes > shape_.bulk_bytes) {
        broken_ = true;
      } else if (bytes != 0) {
        const std::uint64_t start = wire::bulk_begin(bulk_sent_, bytes, shape_.bulk_bytes);
        bulk_sent_ = wire::bulk_end(start, bytes);
        run.bulk = {view_.tx_bulk + (start & (shape_.bulk_bytes - 1)), bytes};
      }
    }
    run.lines_count += header->lines;
    reader_.pop(header->lines);
  }
  const std::uint64_t ring_lines = std::uint64_t{1} << shape_.lines_log2;
  const std::uint64_t to_end = ring_lines - (begin & (ring_lines - 1));
  const std::uint64_t first = std::min<std::uint64_t>(run.lines_count, to_end);
  run.lines[0] = bytes_of(begin, first);
  run.lines[1] = bytes_of(begin + first, run.lines_count - first);
  return run;
}

CreditBody RingOverNetwork::given() const noexcept {
  const Credits& words = *receiving_credits_;
  return {words.lines_given(), words.ledger_given(), words.bulk_given()};
}

std::optional<CreditBody> RingOverNetwork::changed_credits() noexcept {
  const CreditBody now = given();
  if (now == told_) return std::nullopt;
  told_ = now;
  return now;
}

void RingOverNetwork::warm() noexcept {
  fetch_behind(view_.tx_bulk, shape_.bulk_bytes, bulk_sent_, warm_sent_);
  fetch_behind(receiving_bulk_, shape_.bulk_bytes, bulk_received_, warm_received_);
}

bool RingOverNetwork::begin_lines(std::uint32_t lines_count, std::uint32_t bulk_bytes,
                                  std::byte*& bulk) noexcept {
  const std::uint64_t ring_lines = std::uint64_t{1} << shape_.lines_log2;
  if (lines_count == 0 ||
      !has_room(lines_received_ + lines_count, receiving_credits_->lines_given(), ring_lines))
    return false;
  bulk = nullptr;
  if (bulk_bytes == 0) return true;
  if (bulk_bytes > shape_.bulk_bytes || lines_count > wire::kMaxLines) return false;
  const std::uint64_t start = wire::bulk_begin(bulk_received_, bulk_bytes, shape_.bulk_bytes);
  const std::uint64_t end = wire::bulk_end(start, bulk_bytes);
  if (!has_room(end, receiving_credits_->bulk_given(), shape_.bulk_bytes)) return false;
  bulk = receiving_bulk_ + (start & (shape_.bulk_bytes - 1));
  bulk_received_ = end;
  return true;
}

std::uint32_t RingOverNetwork::take_lines(std::span<const std::byte> lines) noexcept {
  const auto count = static_cast<std::uint32_t>(lines.size() / kLineBytes);
  std::uint32_t taken = 0;
  while (taken < count) {
    const std::byte* at = lines.data() + std::size_t{taken} * kLineBytes;
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const auto header = wire::decode(word);
    const std::uint32_t length = header ? header->lines : 1;  // garbage: as it came
    if (length > count - taken) break;
    place(at, length);
    taken += length;
  }
  return taken;
}

// Backwards: a record is there when its first tag is.
void RingOverNetwork::place(const std::byte* lines, std::uint32_t lines_count) noexcept {
  const std::uint64_t mask = (std::uint64_t{1} << shape_.lines_log2) - 1;
  for (std::uint32_t i = lines_count; i-- > 0;) {
    std::uint64_t image[sync::kWordsPerLine + 1];
    std::memcpy(image, lines + std::size_t{i} * kLineBytes, sizeof image);
    Line& line = receiving_lines_[(lines_received_ + i) & mask];
    for (unsigned word = 0; word < sync::kWordsPerLine; ++word)
      line.words[word].set(image[word + 1]);
    line.arrive(image[0]);
  }
  lines_received_ += lines_count;
}

void RingOverNetwork::take_credits(const CreditBody& credits) noexcept {
  sending_credits_->give_bulk(std::max(sending_credits_->bulk_given(), credits.bulk));
  sending_credits_->give_ledger(std::max(sending_credits_->ledger_given(), credits.ledger));
  sending_credits_->give_lines(std::max(sending_credits_->lines_given(), credits.lines));
}

}  // namespace photon::transport::network
