// Plays the program of a rank: issues one operation after the other, and takes the host's times.
#pragma once

#include <string>
#include <vector>

#include "engine.h"
#include "markers.h"

namespace csg {

class Player {
 public:
  Player(const Setting& setting, Engine& engine, const Markers& markers)
      : schedule_(setting.schedule), watchdog_(setting.watchdog), engine_(engine), markers_(markers),
        timings_(schedule_.program.size()), recorded_(schedule_.events.size()) {}

  std::vector<Timing>& play() {
    for (std::size_t place = 0; place < schedule_.program.size(); ++place) {
      const Operation& operation = schedule_.program[place];
      watchdog_.at("operation " + std::to_string(place) + ", " + operation.text);
      timings_[place].host_begin = monotonic_ns();
      perform(place, operation);
      timings_[place].host_end = monotonic_ns();
      if (operation.op == Op::kEndStep) engine_.between_steps();
    }
    if (in_step_ || labels_ > 0) throw bad("a step or a label does not end");
    watchdog_.at("waiting for the device after the last operation");
    return timings_;
  }

 private:
  void perform(std::size_t place, const Operation& o) {
    switch (o.op) {
      case Op::kStep: return begin_step(o);
      case Op::kEndStep: return end_step();
      case Op::kSleep: return be_busy(o.duration);
      case Op::kPush: return push(o);
      case Op::kPop: return pop();
      case Op::kCompute: return engine_.compute(place, o);
      case Op::kRecord: return record(o);
      case Op::kWait: return check(o), engine_.wait(o);
      case Op::kCollective:
      case Op::kSend:
      case Op::kReceive: return communicate(place, o);
      case Op::kCopy: return engine_.copy(place, o);
      case Op::kSync: return engine_.sync();
      case Op::kStreamSync: return engine_.sync_stream(o);
      case Op::kEventSync: return check(o), engine_.sync_event(o);
      case Op::kQuery: return check(o), query(o);
      case Op::kAllocate: return engine_.allocate(o);
      case Op::kFree: return engine_.free(o);
    }
  }

  void begin_step(const Operation& o) {
    if (in_step_) throw bad("step " + std::to_string(o.number) + " begins inside another");
    in_step_ = true;
    markers_.push_step(o.number);
  }

  void end_step() {
    if (!in_step_) throw bad("a step ends that did not begin");
    in_step_ = false;
    markers_.pop();
  }

  void push(const Operation& o) {
    ++labels_;
    markers_.push(o.name);
  }

  void pop() {
    if (labels_-- == 0) throw bad("a label ends that did not begin");
    markers_.pop();
  }

  // Short times are spun away: waking up takes longer than they last.
  static void be_busy(Ns duration) {
    constexpr Ns kWakeUp = 80000;
    const Ns end = monotonic_ns() + duration;
    if (duration > 2 * kWakeUp) sleep_until(end - kWakeUp);
    while (monotonic_ns() < end) {
    }
  }

  void communicate(std::size_t place, const Operation& o) {
    markers_.push("csg.coll;seq=" + std::to_string(o.number) + ";op=" + o.name +
                  ";bytes=" + std::to_string(o.bytes));
    if (o.op == Op::kCollective) {
      engine_.collective(place, o);
    } else {
      engine_.message(place, o);
    }
    markers_.pop();
  }

  void record(const Operation& o) {
    recorded_[static_cast<std::size_t>(o.event)] = true;
    engine_.record(o);
  }

  void check(const Operation& o) const {
    if (!recorded_[static_cast<std::size_t>(o.event)]) {
      throw bad("it waits for event " + schedule_.events[static_cast<std::size_t>(o.event)] +
                ", which was not recorded");
    }
  }

  void query(const Operation& o) {
    for (Ns next = monotonic_ns() + o.duration; !engine_.has_happened(o); next += o.duration) {
      sleep_until(next);
    }
  }

  const Schedule& schedule_;
  Watchdog& watchdog_;
  Engine& engine_;
  const Markers& markers_;
  std::vector<Timing> timings_;
  std::vector<bool> recorded_;
  bool in_step_ = false;
  int labels_ = 0;
};

}  // namespace csg
