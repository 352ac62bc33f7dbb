/* Each PE makes a group, uses it, and hands it to the next PE, which uses it as well. */
#include "program.inc.h"

enum { kBytes = 3000, kOwn = 0, kCopied = 1, kGiven = 2, kWays = 3 };

typedef struct Offer {
  char header[CmiMsgHeaderSizeBytes];
  int maker;
  CmiGroup group;
} Offer;

typedef struct Leaflet {
  char header[CmiMsgHeaderSizeBytes];
  int maker, way;
  char bytes[kBytes];
} Leaflet;

CpvDeclare(int, offer_handler);
CpvDeclare(int, leaflet_handler);
CpvDeclare(int, left);
CpvDeclare(char*, had);

/* Every third PE behind the maker, the maker among them. */
static int is_member(int maker, int pe) {
  return (pe - maker + CmiNumPes()) % CmiNumPes() % 3 == 0;
}

static void one_done(void) {
  if (--CpvAccess(left) == 0) finish_pe();
}

static void on_leaflet(void* message) {
  Leaflet* leaflet = (Leaflet*)message;
  char* had = CpvAccess(had) + leaflet->maker * kWays + leaflet->way;
  expect(is_member(leaflet->maker, CmiMyPe()), "a leaflet for another group");
  expect(!*had, "a leaflet came twice");
  *had = 1;
  expect_pattern(leaflet->bytes, kBytes, leaflet->maker + leaflet->way, "leaflet");
  CmiFree(leaflet);
  one_done();
}

static Leaflet* new_leaflet(int maker, int way) {
  Leaflet* leaflet = (Leaflet*)CmiAlloc(sizeof(Leaflet));
  leaflet->maker = maker;
  leaflet->way = way;
  fill_pattern(leaflet->bytes, kBytes, maker + way);
  CmiSetHandler(leaflet, CpvAccess(leaflet_handler));
  return leaflet;
}

static void on_offer(void* message) {
  Offer* offer = (Offer*)message;
  CmiSyncMulticastAndFree(offer->group, sizeof(Leaflet), new_leaflet(offer->maker, kGiven));
  CmiFree(offer);
  one_done();
}

static CmiGroup make_group(void) {
  int* pes = (int*)malloc(sizeof(int) * (size_t)CmiNumPes());
  int count = 0;
  for (int pe = CmiNumPes() - 1; pe >= 0; --pe)
    if (is_member(CmiMyPe(), pe)) pes[count++] = pe;
  const CmiGroup group = CmiEstablishGroup(count, pes);
  free(pes);
  return group;
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("multicast");
  CpvInitialize(int, offer_handler);
  CpvInitialize(int, leaflet_handler);
  CpvInitialize(int, left);
  CpvInitialize(char*, had);
  CpvAccess(offer_handler) = CmiRegisterHandler(on_offer);
  CpvAccess(leaflet_handler) = CmiRegisterHandler(on_leaflet);
  CpvAccess(had) = (char*)calloc((size_t)CmiNumPes(), kWays);
  CpvAccess(left) = 1;
  for (int maker = 0; maker < CmiNumPes(); ++maker)
    if (is_member(maker, CmiMyPe())) CpvAccess(left) += kWays;

  const CmiGroup group = make_group();
  CmiSyncMulticastAndFree(group, sizeof(Leaflet), new_leaflet(CmiMyPe(), kOwn));
  Leaflet* leaflet = new_leaflet(CmiMyPe(), kCopied);
  CmiSyncMulticast(group, sizeof(Leaflet), leaflet);
  memset(leaflet, 0x33, sizeof(Leaflet));
  CmiFree(leaflet);
  Offer offer;
  memset(&offer, 0, sizeof offer);
  offer.maker = CmiMyPe();
  offer.group = group;
  CmiSetHandler(&offer, CpvAccess(offer_handler));
  CmiSyncSend((CmiMyPe() + 1) % CmiNumPes(), sizeof(Offer), &offer);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
