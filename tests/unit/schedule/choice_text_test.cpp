// The text form of a table of algorithms.
#include <gtest/gtest.h>

#include "base/config.hpp"
#include "schedule/choice.hpp"

namespace photon::schedule {
namespace {

constexpr const char* kTableHeader = "photon-coll-table 1\n";

Choice chosen_by(const Choices& choices, std::uint32_t members, std::uint64_t bytes,
                 Layout layout = Layout::one_host) {
  const Call call{.kind = Kind::allreduce, .size = members, .count = bytes};
  return choices.choose(call, {.element_bytes = 1, .layout = layout});
}

std::string words_of(const std::string& text) {
  const auto read = Choices::parse(text);
  return read ? "" : read.error().what;
}

TEST(ChoiceText, rows_count_from_their_members_and_bytes_on) {
  const auto read = Choices::parse(std::string(kTableHeader) +
                                   "# a comment\n"
                                   "allreduce any 3 100 ring   # from 100 bytes on\n"
                                   "allreduce any 3 0 chain\n\n"
                                   "allreduce any 8 0 direct\n");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(chosen_by(*read, 3, 99).algorithm, Algorithm::chain);
  EXPECT_EQ(chosen_by(*read, 3, 100).algorithm, Algorithm::ring);
  EXPECT_EQ(chosen_by(*read, 7, ~0ULL).algorithm, Algorithm::ring);
  EXPECT_EQ(chosen_by(*read, 8, ~0ULL).algorithm, Algorithm::direct);
  EXPECT_EQ(chosen_by(*read, 8, 0).source, Source::table);
  EXPECT_EQ(chosen_by(*read, 2, 0).source, Source::built_in) << "what it does not say is as before";
  EXPECT_EQ(chosen_by(*read, 2, 0).algorithm, chosen_by(Choices(), 2, 0).algorithm);
}

TEST(ChoiceText, a_layout_has_rows_of_its_own) {
  const auto read = Choices::parse(std::string(kTableHeader) +
                                   "allreduce one_host 2 0 linear\n"
                                   "allreduce several_hosts 2 0 ring\n");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(chosen_by(*read, 4, 8).algorithm, Algorithm::linear);
  EXPECT_EQ(chosen_by(*read, 4, 8, Layout::several_hosts).algorithm, Algorithm::ring);
}

TEST(ChoiceText, the_built_in_table_written_and_read_chooses_the_same) {
  const auto read = Choices::parse(text_of(built_in_rules()));
  ASSERT_TRUE(read) << read.error().what;
  for (const std::uint32_t members : {2U, 3U, 5U, 9U, 17U, 33U, 100U, 1025U})
    for (std::uint64_t bytes = 1; bytes < 8U << 20; bytes *= 3)
      EXPECT_EQ(chosen_by(*read, members, bytes).algorithm,
                chosen_by(Choices(), members, bytes).algorithm)
          << members << ", " << bytes;
  EXPECT_NE(read->hash(), Choices().hash()) << "it is another table all the same";
}

TEST(ChoiceText, what_is_wrong_is_named_with_its_line_and_what_is_allowed) {
  const std::string header(kTableHeader);
  EXPECT_EQ(words_of(""), "a table begins with \"photon-coll-table 1\"");
  EXPECT_EQ(words_of("\nbcast any 2 0 chain"),
            "line 2: a table begins with \"photon-coll-table 1\"");
  EXPECT_EQ(
      words_of(header + "\nbcast any 2 0 rung"),
      "line 3: \"rung\" is no algorithm of bcast, which has linear, chain, binomial, knomial, "
      "scatter_allgather, circulant, leaders");
  EXPECT_EQ(
      words_of(header + "bcast any 2 0 bruck"),
      "line 2: \"bruck\" is no algorithm of bcast, which has linear, chain, binomial, knomial, "
      "scatter_allgather, circulant, leaders");
  EXPECT_NE(words_of(header + "bcst any 2 0 chain").find("\"bcst\" is no kind; there are barrier,"),
            std::string::npos);
  EXPECT_NE(words_of(header + "bcast far 2 0 chain").find("one_host, several_hosts, any"),
            std::string::npos);
  EXPECT_NE(words_of(header + "bcast any 1 0 chain").find("members"), std::string::npos);
  EXPECT_NE(words_of(header + "bcast any 2 -1 chain").find("bytes"), std::string::npos);
  EXPECT_NE(words_of(header + "bcast any 2 0 chain 1").find("more than"), std::string::npos);
  EXPECT_NE(words_of(header + "bcast any 2 0").find("\"\" is no algorithm"), std::string::npos);
  EXPECT_NE(words_of(header + "gatherv any 2 8 linear").find("0 bytes alone"), std::string::npos);
  EXPECT_NE(words_of(header + "bcast any 2 0 chain\nbcast one_host 2 0 linear").find("already"),
            std::string::npos);
}

TEST(ChoiceText, settings_offer_just_the_algorithms_of_their_kind) {
  for (NamedKind kind = 0; kind < kNamedKinds; ++kind) {
    const std::string name = std::string("coll_") + name_of_kind(kind);
    const base::Field* const field = base::find_field(name);
    ASSERT_NE(field, nullptr) << name;
    std::string offered;
    for (const char* const one : field->choices.subspan(1))
      offered.append(offered.empty() ? "" : ", ").append(one);
    EXPECT_EQ(offered, names_for(kind)) << name;
    EXPECT_STREQ(field->choices[0], "auto") << name;
  }
}

TEST(ChoiceText, kinds_and_algorithms_are_found_by_their_names) {
  for (NamedKind kind = 0; kind < kNamedKinds; ++kind) {
    EXPECT_EQ(find_kind(name_of_kind(kind)), kind);
    EXPECT_EQ(named_kind(kind_of(kind), has_counts(kind)), kind);
  }
  EXPECT_FALSE(find_kind("gathers"));
  EXPECT_EQ(find_algorithm("ring"), Algorithm::ring);
  EXPECT_FALSE(find_algorithm("auto"));
}

}  // namespace
}  // namespace photon::schedule
