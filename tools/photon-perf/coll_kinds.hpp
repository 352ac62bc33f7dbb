// The kinds of collective operations that photon-perf knows: their names, and who gives and gets
// which blocks. The root is member 0, and a block has as many bytes as the row says.
// Owner: none (constants).
#pragma once

#include <photon/coll.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photon::perf {

// Blocks of a buffer, and at which members it is one.
enum class CollBlocks : std::uint8_t { none, one, each };
enum class CollAt : std::uint8_t { all, root, others };
struct CollBuffer {
  CollBlocks blocks;
  CollAt at = CollAt::all;

  std::uint32_t blocks_at(std::uint32_t member, std::uint32_t members) const noexcept;
};

// Whose inputs make a block of the output: the root's; block j of member j; the sum of all, of
// those up to the own number, of those before it.
enum class CollSources : std::uint8_t { root, block, all, up_to_self, before_self };

// Between two members: both ways, or one way from the root or to it.
enum class CollWay : std::uint8_t { both, from_root, to_root };

struct CollKind {
  std::string_view name;
  ph_coll_kind kind;
  CollBuffer in;
  CollBuffer out;
  CollSources sources;
  CollWay way;
  bool has_counts = false;  // an array of them, on either side

  bool folds() const noexcept { return sources > CollSources::block; }
};

std::span<const CollKind> coll_kinds() noexcept;
const CollKind* find_coll_kind(std::string_view name) noexcept;  // null: there is none

// "barrier,bcast". Throws Failure naming the one that there is not, and those that there are.
std::vector<const CollKind*> parse_coll_kinds(std::string_view text);

}  // namespace photon::perf
