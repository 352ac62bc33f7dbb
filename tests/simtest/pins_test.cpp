// This table holds the digests of the programs that some seeds mean. A new draw from a stream that
// others draw from changes programs that have nothing to do with it, and the seeds that once failed
// (seeds.txt) would be about something else. A change of what is drawn by default changes the last
// lines of the table, and no others.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "simtest/case.hpp"

namespace photon::simtest {
namespace {

// The hash is that of History.
std::uint64_t digest_of(std::string_view text) {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const char c : text) {
    digest ^= static_cast<unsigned char>(c);
    digest *= 0x100000001b3;
  }
  return digest;
}

struct Pin {
  std::uint64_t seed;
  Choice choice;
  std::uint64_t digest;
  std::uint32_t ranks = 4;
  std::uint32_t operations = 200;
};

// These choices stand in seeds.txt.
constexpr Choice kOldest{Lanes::none, Losses::none,    Peers::none,       Echoes::none, Wakes::none,
                         Maps::none,  Mailboxes::none, Collectives::none, Ams::none};
constexpr Choice kLanes{Lanes::all, Losses::none,    Peers::none,       Echoes::none, Wakes::none,
                        Maps::none, Mailboxes::none, Collectives::none, Ams::none};
constexpr Choice kLanesDrawn{Lanes::drawn,    Losses::none,      Peers::none,
                             Echoes::none,    Wakes::none,       Maps::none,
                             Mailboxes::none, Collectives::none, Ams::none};
constexpr Choice kLosses{Lanes::drawn,    Losses::all,       Peers::none,
                         Echoes::none,    Wakes::none,       Maps::none,
                         Mailboxes::none, Collectives::none, Ams::none};
constexpr Choice kLossesDrawn{Lanes::drawn,    Losses::drawn,     Peers::none,
                              Echoes::none,    Wakes::none,       Maps::none,
                              Mailboxes::none, Collectives::none, Ams::none};
constexpr Choice kEchoes{Lanes::drawn, Losses::drawn,   Peers::none,       Echoes::all, Wakes::none,
                         Maps::none,   Mailboxes::none, Collectives::none, Ams::none};
constexpr Choice kWakes{Lanes::drawn,    Losses::drawn,     Peers::none,
                        Echoes::none,    Wakes::drawn,      Maps::none,
                        Mailboxes::none, Collectives::none, Ams::none};
constexpr Choice kWakesAndEchoes{Lanes::drawn,    Losses::drawn,     Peers::none,
                                 Echoes::all,     Wakes::drawn,      Maps::none,
                                 Mailboxes::none, Collectives::none, Ams::none};
constexpr Choice kNoMaps{Lanes::drawn,    Losses::drawn,     Peers::drawn,
                         Echoes::drawn,   Wakes::drawn,      Maps::none,
                         Mailboxes::none, Collectives::none, Ams::none};
constexpr Choice kMaps{Lanes::drawn,    Losses::drawn,     Peers::drawn,
                       Echoes::drawn,   Wakes::drawn,      Maps::all,
                       Mailboxes::none, Collectives::none, Ams::none};
constexpr Choice kCarried{Lanes::drawn,       Losses::drawn,     Peers::drawn,
                          Echoes::drawn,      Wakes::drawn,      Maps::drawn,
                          Mailboxes::carried, Collectives::none, Ams::none};
constexpr Choice kMailboxes{Lanes::drawn,   Losses::drawn,     Peers::drawn,
                            Echoes::drawn,  Wakes::drawn,      Maps::drawn,
                            Mailboxes::all, Collectives::none, Ams::none};
constexpr Choice kCollectives{Lanes::drawn,     Losses::drawn,    Peers::drawn,
                              Echoes::drawn,    Wakes::drawn,     Maps::drawn,
                              Mailboxes::drawn, Collectives::all, Ams::none};
constexpr Choice kDiffering{Lanes::drawn,     Losses::drawn,          Peers::drawn,
                            Echoes::drawn,    Wakes::drawn,           Maps::drawn,
                            Mailboxes::drawn, Collectives::differing, Ams::none};
constexpr Choice kNoAms{Lanes::drawn,     Losses::drawn,      Peers::drawn,
                        Echoes::drawn,    Wakes::drawn,       Maps::drawn,
                        Mailboxes::drawn, Collectives::drawn, Ams::none};
constexpr Choice kPlainAms{Lanes::drawn,     Losses::drawn,      Peers::drawn,
                           Echoes::drawn,    Wakes::drawn,       Maps::drawn,
                           Mailboxes::drawn, Collectives::drawn, Ams::plain};
constexpr Choice kLandings{Lanes::drawn,     Losses::drawn,      Peers::drawn,
                           Echoes::drawn,    Wakes::drawn,       Maps::drawn,
                           Mailboxes::drawn, Collectives::drawn, Ams::landing};
constexpr Choice kDrawn = {};

constexpr Pin kPins[] = {
    {874, kOldest, 0x64f06e7dbbc7e9d1},
    {1'578'841, kOldest, 0xbb1d46d7f11c1e0d},
    {7'139'098, kOldest, 0xcb23f0c661a71469},
    {233, kOldest, 0x5262ad1659b84672},
    {823, kLanes, 0x660622546460c528},
    {20'842, kLanes, 0x6d0775dcaddbd876},
    {822, kLanes, 0x4d7a609e37b8263d, 2},
    {19'214'811'365'569, kLanesDrawn, 0xc04857fdc4604954, 2, 2000},
    {18, kLosses, 0x9cf46d56abec431b},
    {2774, kLosses, 0xa1bd7ff82b218a67},
    {26'121'998'463'374, kLossesDrawn, 0x5e946a753d2848b},
    {3'453'029'326'955, kLossesDrawn, 0xc64c4da429fb0eac, 2, 2000},
    {105'602, kEchoes, 0x7fe72b820092af2a},
    {29'269'991'651'752, kWakes, 0x1770abae94b346fb},
    {29'269'991'652'503, kWakesAndEchoes, 0x3e06bccde1c26510, 2, 2000},
    {1, kNoMaps, 0xc66a014c59e285ac},
    {2, kNoMaps, 0xb21c07e2bc17a42c},
    {3, kNoMaps, 0xd78b938856e6fe00},
    {4, kNoMaps, 0x90f6f54276d5dca0},
    {1, kMaps, 0x62213cbc6f38c4b8},
    {2, kMaps, 0xfb0bfc83c845461d},
    {1, kCarried, 0x56f7fb8fc8623053},
    {2, kCarried, 0x218b59ae50403ede},
    {1, kMailboxes, 0x56f7fb8fc8623053},
    {2, kMailboxes, 0xc237dc74f2f43274},
    {1, kCollectives, 0x1f29b04a52e68c5c},
    {3, kCollectives, 0x280b24054b0f2cb9},
    {1, kDiffering, 0xc05cb5c8d32946ac},
    {3, kDiffering, 0x9ca44aff1bb5dcbd},
    {1, kNoAms, 0x1f29b04a52e68c5c},
    {2, kNoAms, 0xcb8ff1cffce84fa2},
    {3, kNoAms, 0xd29f76025a9a4917},
    {4, kNoAms, 0xa1e5f2e887c1fbe3},
    {1, kPlainAms, 0x9250ad26e73bf19},
    {3, kPlainAms, 0x6fc2dc714c5b4c66},
    {1, kLandings, 0xd3742d4e54a80f83},
    {2, kLandings, 0x749af14c9f67a027},
    {1, kDrawn, 0x9250ad26e73bf19},
    {2, kDrawn, 0xcb8ff1cffce84fa2},
    {3, kDrawn, 0x6fc2dc714c5b4c66},
    {4, kDrawn, 0xa1e5f2e887c1fbe3},
};

TEST(SimtestPins, seeds_mean_the_programs_that_they_meant) {
  for (const Pin& pin : kPins) {
    const Program program = generate(pin.seed, pin.ranks, pin.operations, pin.choice);
    const std::uint64_t digest = digest_of(text_of(program));
    EXPECT_EQ(digest, pin.digest) << "row " << &pin - kPins << ", seed " << pin.seed << ": 0x"
                                  << std::hex << digest;
  }
}

}  // namespace
}  // namespace photon::simtest
