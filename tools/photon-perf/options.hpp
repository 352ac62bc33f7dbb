// What the user asked for.
// Owner: main.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photon::perf {

enum class MemoryKind : std::uint8_t { alloc, malloc };
std::string_view text_of(MemoryKind kind) noexcept;

// Are sources rewritten by their owner before each operation, or never touched again?
enum class BufferKind : std::uint8_t { fresh, same };
std::string_view text_of(BufferKind kind) noexcept;

// How a collective operation is called: at once and until it is over, begun and waited for, or
// prepared, started and waited for.
enum class CollCall : std::uint8_t { run, begin, start };
std::string_view text_of(CollCall call) noexcept;

struct CollKind;

// Is this the rank that speaks for the job, or no part of one? Known before there is a context.
bool is_speaker() noexcept;

struct Options {
  std::string question;
  std::vector<std::uint64_t> sizes;    // empty: the question's own
  std::uint64_t iterations = 0;        // 0: one to four seconds a row
  std::uint64_t open = 0;              // mailboxes at each rank; 0: those that are used
  std::vector<const CollKind*> kinds;  // of collective operations
  CollCall call = CollCall::run;
  bool has_limits = true;  // rows stand beside their limits
  bool is_asleep = false;  // the caller, while an operation is under way; else it computes
  std::string table_path;  // of tune; empty: the table is printed
  MemoryKind memory = MemoryKind::alloc;
  BufferKind buffers = BufferKind::same;
  std::string transport;  // empty: the library chooses
  std::string provider;   // of libfabric, for transport ofi; empty: as the library is set
  std::string json_path;  // empty: no file
  std::string plot_path;  // empty: no picture
};

// "8,64,4K,1M": K, M and G are powers of 1024. Throws Failure naming the part it cannot read.
std::vector<std::uint64_t> parse_sizes(std::string_view text);

// Options for the program, or the exit status with which to end at once (help, bad arguments; the
// text was printed). All ranks read the same line: only the speaker prints and fails.
struct ParsedOptions {
  std::optional<Options> options;
  int exit_status = 0;
};
ParsedOptions parse_options(int argc, char** argv);

}  // namespace photon::perf
