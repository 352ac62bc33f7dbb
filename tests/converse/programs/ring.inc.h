/* Each PE sends a message round the ring several times; it is sent on as it is, and one grows. */
#include "program.inc.h"

enum { kLaps = 7, kBytes = 1500 };

typedef struct Token {
  char header[CmiMsgHeaderSizeBytes];
  int maker, hops;
  char bytes[kBytes];
} Token;

/* Who has it adds its own number: the numbers stand behind the struct. */
typedef struct Chain {
  char header[CmiMsgHeaderSizeBytes];
  int count;
} Chain;

CpvDeclare(int, token_handler);
CpvDeclare(int, chain_handler);
CpvDeclare(int, home);

static int next_pe(void) { return (CmiMyPe() + 1) % CmiNumPes(); }

static void is_home(void) {
  CpvAccess(home) += 1;
  if (CpvAccess(home) == (CmiMyPe() == 0 ? 2 : 1)) finish_pe();
}

static void on_token(void* message) {
  Token* token = (Token*)message;
  token->hops += 1;
  expect_equal(CmiMyPe(), (token->maker + token->hops) % CmiNumPes(), "place of a token");
  expect_pattern(token->bytes, kBytes, token->maker, "token");
  if (token->hops < kLaps * CmiNumPes()) {
    CmiSyncSendAndFree(next_pe(), sizeof(Token), token);
    return;
  }
  expect_equal(token->maker, CmiMyPe(), "maker of a token that has run its laps");
  CmiFree(token);
  is_home();
}

static void on_chain(void* message) {
  Chain* chain = (Chain*)message;
  const int* numbers = (const int*)(chain + 1);
  for (int i = 0; i < chain->count; ++i) expect_equal(numbers[i], i % CmiNumPes(), "link");
  if (chain->count == kLaps * CmiNumPes()) {
    expect_equal(CmiMyPe(), 0, "end of the chain");
    CmiFree(chain);
    is_home();
    return;
  }
  const int size = (int)sizeof(Chain) + chain->count * (int)sizeof(int);
  Chain* longer = (Chain*)CmiAlloc(size + (int)sizeof(int));
  memcpy(longer, chain, (size_t)size); /* its header as well */
  CmiFree(chain);
  ((int*)(longer + 1))[longer->count++] = CmiMyPe();
  CmiSyncSendAndFree(next_pe(), size + (int)sizeof(int), longer);
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("ring");
  CpvInitialize(int, token_handler);
  CpvInitialize(int, chain_handler);
  CpvInitialize(int, home);
  CpvAccess(home) = 0;
  CpvAccess(token_handler) = CmiRegisterHandler(on_token);
  CpvAccess(chain_handler) = CmiRegisterHandler(on_chain);
  Token* token = (Token*)CmiAlloc(sizeof(Token));
  token->maker = CmiMyPe();
  token->hops = 0;
  fill_pattern(token->bytes, kBytes, CmiMyPe());
  CmiSetHandler(token, CpvAccess(token_handler));
  CmiSyncSendAndFree(next_pe(), sizeof(Token), token);
  if (CmiMyPe() != 0) return;
  Chain* chain = (Chain*)CmiAlloc(sizeof(Chain));
  chain->count = 0;
  CmiSetHandler(chain, CpvAccess(chain_handler));
  CmiSyncSendAndFree(0, sizeof(Chain), chain);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
