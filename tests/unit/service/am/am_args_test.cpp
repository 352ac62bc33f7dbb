// What is wrong with the arguments of a send is refused in words, and nothing has begun.
#include "service/am/am_args.hpp"

#include <functional>

#include "am_sending.hpp"

namespace photon::service::am::sending_test {
namespace {

const std::uint64_t kWord = 1;
const ph_const_block kBlocks[2] = {{&kWord, 8}, {&kWord, 8}};

struct Row {
  const char* what;
  std::function<void(ph_am_args&)> change;
  const char* words;
  ph_status status = PH_ERR_ARGUMENT;
};

const std::vector<Row>& bad_rows() {
  static const void* const kHigh = reinterpret_cast<const void*>(~std::uint64_t{0} - 7);
  static const ph_const_block kNull[1] = {{nullptr, 1}};
  static const ph_const_block kWrapping[2] = {{&kWord, std::uint64_t{1} << 63},
                                              {&kWord, std::uint64_t{1} << 63}};
  static const std::vector<Row> rows = {
      {"size", [](auto& a) { a.size = 8; }, "sizeof"},
      {"id", [](auto& a) { a.id = 65536; }, "65535"},
      {"unknown flag", [](auto& a) { a.flags |= PH_NO_RCE; }, "flag"},
      {"flag of messages", [](auto& a) { a.flags |= PH_AM_IS_REPLY; }, "flag"},
      {"header too long", [](auto& a) { a.header = &kWord, a.header_bytes = 4097; }, "4096"},
      {"null header", [](auto& a) { a.header_bytes = 1; }, "header"},
      {"null payload", [](auto& a) { a.payload = nullptr; }, "payload"},
      {"wrapping payload", [](auto& a) { a.payload = kHigh, a.payload_bytes = 9; }, "wrap"},
      {"wrapping header", [](auto& a) { a.header = kHigh, a.header_bytes = 9; }, "wrap"},
      {"both", [](auto& a) { a.blocks = kBlocks, a.blocks_count = 2; }, "not both"},
      {"too many blocks",
       [](auto& a) {
         a.payload = nullptr, a.payload_bytes = 0, a.blocks = kBlocks, a.blocks_count = 1025;
       },
       "1024"},
      {"null blocks", [](auto& a) { a.payload = nullptr, a.payload_bytes = 0, a.blocks_count = 1; },
       "null"},
      {"null in blocks",
       [](auto& a) {
         a.payload = nullptr, a.payload_bytes = 0, a.blocks = kNull, a.blocks_count = 1;
       },
       "null"},
      {"wrapping blocks",
       [](auto& a) {
         a.payload = nullptr, a.payload_bytes = 0, a.blocks = kWrapping, a.blocks_count = 2;
       },
       "wrap"},
      {"request without completion",
       [](auto& a) {
         static ph_request request;
         a.request = &request;
       },
       "PH_NO_LCE"},
      {"null id",
       [](auto& a) {
         a.local = {nullptr, 8};
       },
       "id"},
      {"long id",
       [](auto& a) {
         a.local = {&kWord, 9};
       },
       "PHOTON_MAX_CID_SIZE", PH_ERR_ID_SIZE},
  };
  return rows;
}

TEST(AmArgs, each_wrong_argument_is_refused_in_words) {
  for (const Row& row : bad_rows())
    for (const Asker asker : {Asker::user, Asker::handler, Asker::reply}) {
      AmSending one;
      one.port.settings.max_cid_size = 8;
      ph_am_args args = AmSending::args(std::as_bytes(std::span(&kWord, 1)));
      row.change(args);
      EXPECT_EQ(one.sender().send(1, args, asker), row.status) << row.what;
      EXPECT_NE(one.port.last_error().what.find(row.words), std::string::npos)
          << row.what << ": " << one.port.last_error().what;
      EXPECT_EQ(one.port.named(), 0u) << row.what << ": nobody was met for it";
      EXPECT_TRUE(one.port.holds_nothing());
      EXPECT_EQ(one.sender().held(), 0u);
    }
}

TEST(AmArgs, a_reply_that_wants_one_is_refused) {
  AmSending one;
  const ph_am_args args =
      AmSending::args(std::as_bytes(std::span(&kWord, 1)), PH_NO_LCE | PH_AM_REPLY);
  EXPECT_EQ(one.sender().send(1, args, Asker::reply), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.sender().send(1, args, Asker::handler), PH_OK);
}

TEST(AmArgs, small_ones_are_refused_as_well) {
  AmSending one;
  EXPECT_EQ(one.sender().send_small(1, 65536, {&kWord, 8}, Asker::user), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.sender().send_small(1, 7, {&kWord, 49}, Asker::user), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.sender().send_small(1, 7, {nullptr, 1}, Asker::user), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.sender().send_small(4, 7, {&kWord, 8}, Asker::user), PH_ERR_RANK);
  EXPECT_EQ(one.sender().send_small(1, 65535, {nullptr, 0}, Asker::user), PH_OK);
  EXPECT_EQ(one.port.waiting(), 1u);
}

TEST(AmArgs, a_rank_out_of_range_is_refused) {
  AmSending one;
  const ph_am_args args = AmSending::args({});
  EXPECT_EQ(one.sender().send(4, args, Asker::user), PH_ERR_RANK);
  EXPECT_EQ(one.sender().send(PH_ANY_RANK, args, Asker::user), PH_ERR_RANK);
}

// Their limits belong to them.
TEST(AmArgs, what_is_just_allowed_goes) {
  AmSending one;
  one.port.settings.max_cid_size = 8;
  std::vector<ph_const_block> blocks(1024, {&kWord, 8});
  const Bytes header = some(4096);
  ph_am_args args = AmSending::args({}, PH_DELIVERED | PH_AM_MAY_WAIT | PH_AM_REPLY);
  args.id = 65535;
  args.header = header.data();
  args.header_bytes = header.size();
  args.blocks = blocks.data();
  args.blocks_count = blocks.size();
  args.local = {&kWord, 8};
  ASSERT_EQ(one.sender().send(1, args, Asker::user), PH_OK);
  const std::vector<Met> all = one.meet();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].header, header);
  EXPECT_EQ(all[0].payload.size(), 8192u);
  EXPECT_EQ(all[0].word.id, 65535u);
  EXPECT_TRUE(all[0].word.has(kWantsReply));
  EXPECT_TRUE(all[0].word.has(kTellsHandled));
}

TEST(AmArgs, short_ids_are_their_bytes_and_zeros) {
  const std::uint64_t word = 0x1122334455667788;
  EXPECT_EQ(first_bytes_of({&word, 8}), word);
  EXPECT_EQ(first_bytes_of({&word, 2}), 0x7788u);
  EXPECT_EQ(first_bytes_of({nullptr, 0}), 0u);
}

}  // namespace
}  // namespace photon::service::am::sending_test
