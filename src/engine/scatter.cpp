// Vectored puts at their target: chunks that it scatters, and the verdict on any chunk.
//
//   chunk in the bulk ring: table of runs | bytes of the first run | of the second | ...
#include <utility>

#include "engine/engine.hpp"
#include "engine/parts/record_io.hpp"
#include "sync/private_copy.hpp"

namespace photon::engine {

// False: malformed.
bool Engine::take_scatter(Peer& peer, const wire::Header& header, CompletionSink* sink) {
  RecordReader reader(peer.rx);
  static_cast<void>(reader.word());  // for its sender's words, should it be refused
  const std::uint64_t runs = reader.word();
  const std::uint64_t word = reader.word();
  const std::uint64_t bytes = wire::bulk_size(word);
  if (bytes > config_.bulk_bytes / 2 || runs == 0 || runs > bytes / wire::kRunBytes) return false;
  if ((word & wire::kBulkFirst) != 0) peer.begin_bulk();
  return place_runs(peer, runs, bytes) && end_chunk(peer, header, reader, sink);
}

// False: the table and the bytes behind it do not fit each other. A run that is refused is passed
// over; the first one is the verdict.
bool Engine::place_runs(Peer& peer, std::uint64_t runs, std::uint64_t bytes) {
  const std::byte* const table = peer.rx_bulk.place(bytes);
  const std::byte* data = table + runs * wire::kRunBytes;
  std::uint64_t left = bytes - runs * wire::kRunBytes;
  for (std::uint64_t i = 0; i < runs; ++i) {
    // Ours: its sender could change the table.
    const auto run = sync::private_copy<wire::Run>(table + i * wire::kRunBytes);
    const std::uint64_t size = wire::bytes_of(run);
    if (size == 0 || size > left) return false;
    left -= size;
    const auto extent = wire::extent_of(run);
    const ph_status status = !extent ? PH_ERR_RANGE
                                     : check_access(regions_, {extent->address, run.key},
                                                    extent->size_bytes, PH_ACCESS_WRITE);
    if (status == PH_OK) {
      copy_blocks({reinterpret_cast<std::byte*>(run.address), run.stride_bytes},
                  packed_row(data, run.size_bytes), run.size_bytes, run.count);
    } else if (peer.bulk_refused == PH_OK) {
      peer.bulk_refused = status;
    }
    data += size;
  }
  if (left != 0) return false;
  peer.rx_bulk.advance(bytes);
  return true;
}

// The verdict on a chunk, and the id that came with it.
bool Engine::end_chunk(Peer& peer, const wire::Header& header, RecordReader& id,
                       CompletionSink* sink) {
  const ph_status verdict = peer.bulk_refused;
  const auto status = static_cast<std::uint64_t>(verdict);
  if (header.kind == wire::Kind::bulk_acked || header.kind == wire::Kind::scatter_acked) {
    if (!answer(peer, {wire::Kind::ack, {status}})) return false;
  } else if (verdict != PH_OK && !std::exchange(peer.told_bulk_refused, true)) {
    if (!answer(peer, {wire::Kind::refused, {status, peer.rx.head(), 1}})) return false;
  }
  if (!header.has_id()) return true;
  if (verdict == PH_OK) return deliver(peer, id, header, sink);
  id_dropped(peer, header);
  return true;
}

}  // namespace photon::engine
