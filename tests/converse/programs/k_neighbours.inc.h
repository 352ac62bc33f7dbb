/* Each PE sends to k neighbours on both sides, and begins anew when all have answered. */
#include "program.inc.h"

enum { kNeighbours = 3, kIterations = 12, kBytes = 700 };

typedef struct Note {
  char header[CmiMsgHeaderSizeBytes];
  int from;
  int iteration;
  char bytes[kBytes];
} Note;

CpvDeclare(int, note_handler);
CpvDeclare(int, answer_handler);
CpvDeclare(int, iteration);
CpvDeclare(int, answers);
CpvDeclare(int, notes);

static int wrapped(int pe) { return (pe % CmiNumPes() + CmiNumPes()) % CmiNumPes(); }

static void send_iteration(void) {
  for (int k = -kNeighbours; k <= kNeighbours; ++k) {
    if (k == 0) continue;
    Note* note = (Note*)CmiAlloc(sizeof(Note));
    note->from = CmiMyPe();
    note->iteration = CpvAccess(iteration);
    fill_pattern(note->bytes, kBytes, note->from + note->iteration);
    CmiSetHandler(note, CpvAccess(note_handler));
    CmiSyncSendAndFree(wrapped(CmiMyPe() + k), sizeof(Note), note);
  }
}

static void finish_if_ready(void) {
  const int all = 2 * kNeighbours * kIterations;
  expect(CpvAccess(notes) <= all, "more notes than neighbours sent");
  if (CpvAccess(notes) == all && CpvAccess(iteration) == kIterations) finish_pe();
}

static void on_note(void* message) {
  Note* note = (Note*)message;
  expect_pattern(note->bytes, kBytes, note->from + note->iteration, "note");
  CpvAccess(notes) += 1;
  CmiSetHandler(note, CpvAccess(answer_handler));
  CmiSyncSendAndFree(note->from, sizeof(Note), note);
  finish_if_ready();
}

static void on_answer(void* message) {
  Note* note = (Note*)message;
  expect_equal(note->from, CmiMyPe(), "who asked");
  expect_equal(note->iteration, CpvAccess(iteration), "iteration of an answer");
  expect_pattern(note->bytes, kBytes, note->from + note->iteration, "answer");
  CmiFree(note);
  CpvAccess(answers) += 1;
  if (CpvAccess(answers) < 2 * kNeighbours) return;
  CpvAccess(answers) = 0;
  CpvAccess(iteration) += 1;
  if (CpvAccess(iteration) < kIterations)
    send_iteration();
  else
    finish_if_ready();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("k_neighbours");
  CpvInitialize(int, note_handler);
  CpvInitialize(int, answer_handler);
  CpvInitialize(int, iteration);
  CpvInitialize(int, answers);
  CpvInitialize(int, notes);
  CpvAccess(iteration) = CpvAccess(answers) = CpvAccess(notes) = 0;
  CpvAccess(note_handler) = CmiRegisterHandler(on_note);
  CpvAccess(answer_handler) = CmiRegisterHandler(on_answer);
  send_iteration();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
