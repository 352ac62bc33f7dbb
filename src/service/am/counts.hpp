// What active messages count, always: the numbers, and what each is called (ph_counters()).
// Owner: none; plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "service/service.hpp"

namespace photon::service::am {

// What was sent, by way.
struct SentCounts {
  std::uint64_t lines = 0;
  std::uint64_t records = 0;
  std::uint64_t chunks = 0;  // and bodies of several
  std::uint64_t pulls = 0;
  std::uint64_t aggregates = 0;
  std::uint64_t collected = 0;    // items of aggregates
  std::uint64_t replies = 0;      // of all these
  std::uint64_t queued = 0;       // of all these, that went through the outbox
  std::uint64_t slot_stalls = 0;  // that found no slot
};

struct Counts : SentCounts {
  std::uint64_t handled = 0;
  std::uint64_t refused = 0;
  std::uint64_t lent = 0;
  std::uint64_t copied = 0;
  std::uint64_t pulled_bytes = 0;
  std::uint64_t parts = 0;
  // Of the rank, whichever peer is asked for.
  std::uint64_t runs = 0;
  std::uint64_t runs_beside = 0;  // of these, by the progress thread
  std::uint64_t queued_bytes = 0;
  std::uint64_t most_queued_bytes = 0;
  std::uint64_t waves = 0;
};

struct CountedAs {
  CounterRow row;
  std::uint64_t Counts::*value;
};
inline constexpr CountedAs kCounted[] = {
    {{"am_lines", "Active messages sent as a line."}, &Counts::lines},
    {{"am_records", "Active messages sent as a record."}, &Counts::records},
    {{"am_chunks", "Active messages sent through the bulk ring."}, &Counts::chunks},
    {{"am_pulls", "Active messages sent whose payload their target reads."}, &Counts::pulls},
    {{"am_aggregates", "Aggregates of active messages sent."}, &Counts::aggregates},
    {{"am_collected", "Active messages that went in aggregates."}, &Counts::collected},
    {{"am_replies", "Replies sent."}, &Counts::replies},
    {{"am_queued", "Active messages that waited in this rank's memory."}, &Counts::queued},
    {{"am_slot_stalls", "Active messages that found no slot free."}, &Counts::slot_stalls},
    {{"am_handled", "Active messages whose header handler has returned here."}, &Counts::handled},
    {{"am_refused", "Active messages whose error their sender was told of."}, &Counts::refused},
    {{"am_lent", "Chunks of active messages that were handled where they lay in the ring."},
     &Counts::lent},
    {{"am_copied", "Chunks that were copied first, for the call ran no handlers."},
     &Counts::copied},
    {{"am_pulled_bytes", "Bytes of payloads of active messages that were read here."},
     &Counts::pulled_bytes},
    {{"am_parts", "Parts of such payloads that were handled here."}, &Counts::parts},
    {{"am_handler_runs", "Batches of handlers of this rank."}, &Counts::runs},
    {{"am_runs_beside", "Of these batches, those that the progress thread has run."},
     &Counts::runs_beside},
    {{"am_queued_bytes", "Bytes of active messages that wait in this rank's memory."},
     &Counts::queued_bytes},
    {{"most_am_queued_bytes", "Most such bytes."}, &Counts::most_queued_bytes},
    {{"am_waves", "Waves of quiesces that have ended here."}, &Counts::waves},
};
inline constexpr auto kCounterRows = [] {
  std::array<CounterRow, std::size(kCounted)> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = kCounted[i].row;
  return rows;
}();

}  // namespace photon::service::am
