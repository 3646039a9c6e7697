// Memory that ends at any point of what is logged: the journal and the world agree afterwards, so that the session goes on and
// comes back.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <new>

#include "server/session/fifo_gate.h"
#include "server/session/solve_slots.h"
#include "sim/dynamics/materials.h"
#include "tests/server/session/journal_fixture.h"
#include "tests/support/allocations.h"

namespace eipc {
namespace {

class OutOfMemoryTest : public JournalTest {
 protected:
  void SetUp() override {
    if (!testing::AllocationsAreCounted()) GTEST_SKIP() << "allocations cannot be made to fail in this build";
  }

  // Whether allocation number `at` of the work was refused.
  static bool RefusesOne(int64_t at, const std::function<void()>& work) {
    const testing::FailAllocation refused(at);
    try {
      work();
    } catch (const std::bad_alloc&) {
    }
    return refused.failed();
  }

  // The first allocation of `act` is refused, then a later one, until there are no more; each time on a session of its own, which
  // goes on then and comes back where it was.
  void Try(const std::function<void(Session*)>& act) {
    bool refused = true;
    for (int64_t at = 1; refused; at += 1 + at / 8) {
      SCOPED_TRACE(at);
      auto store = Open();
      auto session = NewSession(store.get());
      ASSERT_TRUE(Take(session.get(), 2, "before").ok());
      refused = RefusesOne(at, [&] { act(session.get()); });
      ASSERT_TRUE(Take(session.get(), 1).ok());
      const std::string digest = session->world().state().Digest();
      session.reset();
      store = nullptr;
      store = Open();
      const auto back = ComeBack(*store);
      ASSERT_NE(back, nullptr);
      EXPECT_EQ(back->world().state().Digest(), digest);
      ASSERT_TRUE(store->RemoveSession(kName).ok());
    }
  }

  State WithOtherMaterials() const {
    State state = InitialState(*model_);
    state.materials = {MaterialOfScene(*model_, 0)};
    state.materials[0].youngs_modulus_pa *= 2;
    return state;
  }
};

TEST_F(OutOfMemoryTest, AStateIsRestoredAndLoggedOrNeither) {
  const State other = WithOtherMaterials();
  Try([&](Session* session) { (void)session->Restore(0, other); });
}

TEST_F(OutOfMemoryTest, AResetIsLoggedOrNothingHappened) {
  Try([&](Session* session) { (void)session->Reset(); });
}

TEST_F(OutOfMemoryTest, StepsAreTakenAndLoggedOrNeither) {
  Try([&](Session* session) {
    struct TakenBack {  // as calls do
      Session* session;
      ~TakenBack() { session->TakeBackPending(0); }
    } const unless_acknowledged{session};
    (void)Take(session, 2, "again");
  });
}

TEST_F(OutOfMemoryTest, StepsThatFailAreLoggedAsFarAsTheyWent) {
  Try([&](Session* session) {
    StepCommand command;
    command.dt_s = 0.01;
    command.substeps = 3;
    StepBudget budget;  // ends within the second step
    budget.cancelled = [session] { return session->world().state().step > 2; };
    (void)session->Step(command, budget, &slots_);
  });
}

// A slot that is lost stops every session for ever, and a call that waits no longer must not be called.
TEST_F(OutOfMemoryTest, SlotsAreGivenBack) {
  SolveSlots slots(1, 4);
  const SolveClaim claim = {"a tenant whose name is longer than short strings", SolvePriority::kNormal};
  const auto take = [&] {
    StepBudget budget;
    budget.cancelled = [] { return true; };  // a call that has to wait gives up
    const SolveSlots::LateRelease late;
    std::string text;
    (void)slots.Take(claim, budget, [&text] { text = std::string(100, 't'); });
  };
  bool refused = true;
  for (int64_t at = 1; refused; ++at) {
    refused = RefusesOne(at, take);
    EXPECT_EQ(slots.busy(), 0) << at;
    EXPECT_EQ(slots.held(claim.tenant), 0) << at;
  }
  const auto held = slots.Take(claim, {});
  ASSERT_TRUE(held.ok());
  refused = true;
  for (int64_t at = 1; refused; ++at) {
    refused = RefusesOne(at, take);
    EXPECT_EQ(slots.waiting(), 0) << at;
    EXPECT_EQ(slots.busy(), 1) << at;
  }
}

TEST_F(OutOfMemoryTest, PlacesAtAGateAreGivenBack) {
  FifoGate gate({1, 4, "a gate whose name is longer than short strings"});
  const auto enter = [&gate] {
    StepBudget budget;
    budget.cancelled = [] { return true; };
    (void)gate.Enter(budget);
  };
  auto inside = gate.Enter({});
  ASSERT_TRUE(inside.ok());
  bool refused = true;
  for (int64_t at = 1; refused; ++at) {
    refused = RefusesOne(at, enter);
    EXPECT_EQ(gate.waiting(), 0) << at;
  }
  inside->Leave();
  EXPECT_EQ(gate.inside(), 0);
}

// While the next file of a journal is being made, records are kept for it too.
TEST_F(OutOfMemoryTest, ARecordIsInBothFilesOrInNone) {
  fs::create_directories(folder_ + "/sessions");
  SessionJournal journal(&files_, folder_ + "/sessions/x", "sessions/x", {}, nullptr);
  const auto content = [&](int number) {
    std::ifstream file(folder_ + "/sessions/x." + std::to_string(number) + ".log", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  ASSERT_TRUE(journal.Checkpoint("begin").ok());
  ASSERT_TRUE(journal.PrepareCheckpoint("anew"));
  const std::string record(100, 'r');
  std::string taken;
  bool refused = true;
  for (int64_t at = 1; refused; ++at) {
    bool ok = false;
    refused = RefusesOne(at, [&] { ok = journal.Append(record, 0).ok(); });
    if (ok) taken += record;
  }
  EXPECT_FALSE(taken.empty());
  EXPECT_EQ(content(1), "begin" + taken);
  ASSERT_TRUE(journal.WriteCheckpoint().ok());
  EXPECT_EQ(content(2), "anew" + taken);
}

// A checkpoint that finds no memory leaves the journal as good as it was.
TEST_F(OutOfMemoryTest, ACheckpointIsWholeOrNone) {
  Try([&](Session* session) {
    const StepCommand command = {0.01, {{0, testing::PlateAt(3)}}};
    if (!session->Step(command, {}, &slots_).ok() || !session->Acknowledge(0, "", "", "").ok()) return;
    (void)session->CheckpointLog(kName);
  });
}

}  // namespace
}  // namespace eipc
