// What only C++ programs do: classes in variables of a PE, handlers that are lambdas and members,
// messages made by placement new.
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "program.inc.h"

namespace {

class Letter {
 public:
  explicit Letter(int value) : value_(value) {}
  int value() const { return value_; }
  static void* operator new(std::size_t size) { return CmiAlloc(static_cast<int>(size)); }
  static void operator delete(void* memory) { CmiFree(memory); }

 private:
  [[maybe_unused]] char header_[CmiMsgHeaderSizeBytes];
  int value_;
};

struct Inbox {
  Inbox() : name("inbox") {}
  std::string name;
  std::vector<int> values;
};

}  // namespace

CpvDeclare(Inbox, inbox);
CpvStaticDeclare(std::unique_ptr<Inbox>, owned_inbox);
CpvDeclare(int, letter_handler);
CpvDeclare(int, lambda_handler);
CsvStaticDeclare(std::string, words);
using Counts = std::map<int, int>;
CpvStaticDeclare(Counts, counts);

namespace {

class Postman {
 public:
  static void on_letter(Letter* letter) {
    CpvAccess(inbox).values.push_back(letter->value());
    CpvAccess(owned_inbox)->values.push_back(letter->value());
    CpvAccess(counts)[letter->value()] += 1;
    delete letter;
    finish_if_ready();
  }

  static void finish_if_ready() {
    const Inbox& inbox = CpvAccess(inbox);
    if (inbox.values.size() < static_cast<std::size_t>(2 * CmiNumPes())) return;
    expect(inbox.name == "inbox", "an object of a PE that was not constructed");
    expect(CpvAccess(owned_inbox)->values == inbox.values, "values of two objects of the PE");
    expect_equal(static_cast<long>(CpvAccess(counts).size()), CmiNumPes(), "senders");
    for (const auto& [pe, count] : CpvAccess(counts)) expect_equal(count, 2, "letters of a PE");
    expect(CsvAccess(words) == std::string(100, 'w'), "words of the process");
    finish_pe();
  }
};

void start(int, char**) {
  begin_program("cxx_only");
  CpvInitialize(Inbox, inbox);
  CpvInitialize(std::unique_ptr<Inbox>, owned_inbox);
  CpvInitialize(int, letter_handler);
  CpvInitialize(int, lambda_handler);
  CpvInitialize(Counts, counts);
  CsvInitialize(std::string, words);
  if (CmiMyRank() == 0) CsvAccess(words) = std::string(100, 'w');
  CmiNodeBarrier();
  CpvAccess(owned_inbox) = std::make_unique<Inbox>();
  CpvAccess(letter_handler) = CmiRegisterHandler(reinterpret_cast<CmiHandler>(Postman::on_letter));
  CpvAccess(lambda_handler) =
      CmiRegisterHandler([](void* message) { Postman::on_letter(static_cast<Letter*>(message)); });
  for (int handler : {CpvAccess(letter_handler), CpvAccess(lambda_handler)}) {
    auto* letter = new Letter(CmiMyPe());
    CmiSetHandler(letter, handler);
    CmiSyncBroadcastAllAndFree(sizeof(Letter), letter);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
