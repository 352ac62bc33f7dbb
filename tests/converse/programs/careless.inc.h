/* Makes the mistake that the first argument names; see programs_careless_test.cpp. */
#include "program.inc.h"

typedef struct Note {
  char header[CmiMsgHeaderSizeBytes];
  int value;
} Note;

CpvDeclare(int, note_handler);
CpvDeclare(int, other_handler);
CpvDeclare(int, swapped_handler);

static void on_note(void* message) { CmiFree(message); }

static void on_other(void* message) {
  (void)message;
  CmiAbort("the handler of another registration order ran");
}

static void on_swapped(void* message) { CmiFree(message); }

static Note* new_note(void) {
  Note* note = (Note*)CmiAlloc(sizeof(Note));
  CmiSetHandler(note, CpvAccess(note_handler));
  return note;
}

typedef void (*Mistake)(void);

static void negative_allocation(void) { CmiAlloc(-8); }
static void small_send(void) { CmiSyncSend(0, CmiMsgHeaderSizeBytes - 1, new_note()); }
static void negative_send(void) { CmiSyncSendAndFree(0, -16, new_note()); }
static void negative_broadcast(void) { CmiSyncBroadcastAllAndFree(-1, new_note()); }
static void negative_node_send(void) { CmiSyncNodeSend(0, -1, new_note()); }
static void send_too_large(void) { CmiSyncSendAndFree(0, 1 << 20, new_note()); }
static void pe_too_large(void) { CmiSyncSend(CmiNumPes(), sizeof(Note), new_note()); }
static void pe_negative(void) { CmiSyncSendAndFree(-3, sizeof(Note), new_note()); }
static void node_too_large(void) { CmiSyncNodeSend(CmiNumNodes(), sizeof(Note), new_note()); }
static void node_of_no_pe(void) { CmiNodeOf(CmiNumPes() + 7); }

static void list_with_a_wrong_pe(void) {
  const int pes[] = {0, 999999};
  CmiSyncListSendAndFree(2, pes, sizeof(Note), new_note());
}

static void group_with_a_wrong_pe(void) {
  int pes[] = {0, -1};
  CmiSyncMulticastAndFree(CmiEstablishGroup(2, pes), sizeof(Note), new_note());
}

static void vector_without_a_header(void) {
  char bytes[4] = {0};
  int sizes[] = {3};
  char* parts[] = {bytes};
  CmiSyncVectorSend(0, 1, sizes, parts);
}

static void vector_with_a_negative_size(void) {
  Note* note = new_note();
  int sizes[] = {(int)sizeof(Note), -4};
  char* parts[] = {(char*)note, (char*)note};
  CmiSyncVectorSend(0, 2, sizes, parts);
}

static void multiple_with_a_small_one(void) {
  Note* note = new_note();
  int sizes[] = {(int)sizeof(Note), 2};
  char* messages[] = {(char*)note, (char*)note};
  CmiMultipleSend(0, 2, sizes, messages);
}

static void send_from_the_heap_and_free(void) {
  Note* note = (Note*)calloc(1, 4096);
  CmiInitMsgHeader(note + 8, sizeof(Note));
  CmiSetHandler(note + 8, CpvAccess(note_handler));
  CmiSyncSendAndFree(CmiNumPes() - 1, sizeof(Note), note + 8);
}

static void free_of_the_stack(void) {
  Note notes[64];
  memset(notes, 0, sizeof notes);
  CmiFree(&notes[32]);
}

static void free_twice(void) {
  Note* note = new_note();
  CmiFree(note);
  CmiFree(note);
}

static void reference_of_a_freed_one(void) {
  Note* note = new_note();
  CmiFree(note);
  CmiReference(note);
}

static void send_of_a_freed_one(void) {
  Note* note = new_note();
  CmiFree(note);
  CmiSyncSendAndFree(0, sizeof(Note), note);
}

static void handler_that_nobody_has(void) {
  Note* note = new_note();
  CmiSetHandler(note, CpvAccess(swapped_handler) + 50);
  CmiSyncSendAndFree(CmiNumPes() - 1, sizeof(Note), note);
}

static void handler_never_set(void) {
  CmiSyncSendAndFree(CmiNumPes() - 1, sizeof(Note), CmiAlloc(sizeof(Note)));
}

static void long_words(void) {
  char words[1000];
  memset(words, 'w', sizeof words);
  words[sizeof words - 1] = 0;
  CmiAbort("%s to their end", words);
}

static void handler_negative(void) {
  Note* note = new_note();
  CmiSetHandler(note, -2);
  CmiSyncSendAndFree(CmiNumPes() - 1, sizeof(Note), note);
}

static void other_registration_order(void) {
  Note* note = new_note();
  CmiSetHandler(note, CpvAccess(swapped_handler));
  CmiSyncSendAndFree(CmiNumPes() - 1, sizeof(Note), note);
}

static void strategy_unknown(void) {
  unsigned priority[1] = {0};
  CsdEnqueueGeneral(new_note(), 77, 32, priority);
}

static void bits_negative(void) {
  unsigned priority[1] = {0};
  CsdEnqueueGeneral(new_note(), CQS_QUEUEING_BFIFO, -5, priority);
}

static void null_message(void) { CmiSyncSend(0, sizeof(Note), NULL); }

static void unlock_of_no_lock(void) { CmiUnlock(NULL); }

static const struct {
  const char* name;
  Mistake make;
} kMistakes[] = {{"negative_allocation", negative_allocation},
                 {"small_send", small_send},
                 {"negative_send", negative_send},
                 {"negative_broadcast", negative_broadcast},
                 {"negative_node_send", negative_node_send},
                 {"send_too_large", send_too_large},
                 {"pe_too_large", pe_too_large},
                 {"pe_negative", pe_negative},
                 {"node_too_large", node_too_large},
                 {"node_of_no_pe", node_of_no_pe},
                 {"list_with_a_wrong_pe", list_with_a_wrong_pe},
                 {"group_with_a_wrong_pe", group_with_a_wrong_pe},
                 {"vector_without_a_header", vector_without_a_header},
                 {"vector_with_a_negative_size", vector_with_a_negative_size},
                 {"multiple_with_a_small_one", multiple_with_a_small_one},
                 {"send_from_the_heap_and_free", send_from_the_heap_and_free},
                 {"free_of_the_stack", free_of_the_stack},
                 {"free_twice", free_twice},
                 {"reference_of_a_freed_one", reference_of_a_freed_one},
                 {"send_of_a_freed_one", send_of_a_freed_one},
                 {"handler_that_nobody_has", handler_that_nobody_has},
                 {"handler_negative", handler_negative},
                 {"other_registration_order", other_registration_order},
                 {"handler_never_set", handler_never_set},
                 {"long_words", long_words},
                 {"strategy_unknown", strategy_unknown},
                 {"bits_negative", bits_negative},
                 {"null_message", null_message},
                 {"unlock_of_no_lock", unlock_of_no_lock}};

static void start(int argc, char** argv) {
  begin_program("careless");
  expect(argc > 1, "name a mistake");
  CpvInitialize(int, note_handler);
  CpvInitialize(int, other_handler);
  CpvInitialize(int, swapped_handler);
  CpvAccess(note_handler) = CmiRegisterHandler(on_note);
  /* The last PE registers these two in another order than all others. */
  const int is_other = CmiMyPe() > 0 && CmiMyPe() == CmiNumPes() - 1 &&
                       strcmp(argv[1], "other_registration_order") == 0;
  const int first = CmiRegisterHandler(is_other ? on_other : on_swapped);
  const int second = CmiRegisterHandler(is_other ? on_swapped : on_other);
  CpvAccess(swapped_handler) = is_other ? second : first;
  CpvAccess(other_handler) = is_other ? first : second;
  if (CmiMyPe() != 0) return;
  for (size_t i = 0; i < sizeof kMistakes / sizeof kMistakes[0]; ++i)
    if (strcmp(argv[1], kMistakes[i].name) == 0) {
      kMistakes[i].make();
      CmiPrintf("nobody minds\n");
    }
  /* Where the job goes on it ends well: what a mistake does late has come by then. */
  Note* last = new_note();
  CmiSyncBroadcastAllAndFree(sizeof(Note), last);
  for (int pe = 0; pe < CmiNumPes(); ++pe) finish_pe();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
