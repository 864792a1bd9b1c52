// Reads a schedule: communicators, and the program of one rank. The text is described in
// commscope/generator/schedule_text.py, which writes it.
#pragma once

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "clocks.h"
#include "failure.h"

namespace csg {

enum class Op {
  kStep, kEndStep, kSleep, kPush, kPop, kCompute, kRecord, kWait, kCollective, kSend, kReceive,
  kCopy, kSync, kStreamSync, kEventSync, kQuery, kAllocate, kFree,
};

struct Operation {
  Op op = Op::kSync;
  std::string text;     // its line
  std::string name;     // label, kind of a kernel, or what a collective does
  int stream = -1;      // places in the lists of the schedule
  int event = -1;
  int communicator = -1;
  int other = -1;       // root or peer: a rank of the job
  std::int64_t number = 0;  // of the step; of a collective on its communicator, from 0
  std::int64_t bytes = 0;
  std::vector<std::int64_t> shares;  // of an uneven all_to_all: bytes that each member is sent
  Ns duration = kUnknown;
  bool to_device = false;
  bool pageable = false;

  // Bytes that the member which gets most gets from all, itself too.
  std::int64_t most_bytes() const {
    if (shares.empty()) return bytes;
    return *std::max_element(shares.begin(), shares.end()) *
           static_cast<std::int64_t>(shares.size());
  }
};

struct Communicator {
  std::string name;
  std::vector<int> members;

  int place(int rank) const {
    const auto found = std::find(members.begin(), members.end(), rank);
    return found == members.end() ? -1 : static_cast<int>(found - members.begin());
  }
};

struct Schedule {
  int rank = 0;
  int world = 0;
  int local_rank = 0;  // among the ranks of its host
  std::string dtype = "bfloat16";  // of what collectives send
  std::vector<Communicator> communicators;
  std::vector<std::string> streams, events;
  std::vector<Operation> program;
};

inline bool communicates(Op op) {
  return op == Op::kCollective || op == Op::kSend || op == Op::kReceive;
}

inline const std::set<std::string>& collective_ops() {
  static const std::set<std::string> known{"all_reduce", "all_gather", "reduce_scatter",
                                           "all_to_all", "barrier",    "broadcast",
                                           "scatter",    "reduce",     "gather"};
  return known;
}

// No member of these ends before the last one has arrived.
inline bool synchronises(const std::string& op) {
  return op == "all_reduce" || op == "all_gather" || op == "reduce_scatter" ||
         op == "all_to_all" || op == "barrier";
}

inline bool is_from_root(const std::string& op) { return op == "broadcast" || op == "scatter"; }
inline bool is_to_root(const std::string& op) { return op == "reduce" || op == "gather"; }

// Reads line by line; what belongs to other ranks is passed over.
class ScheduleReader {
 public:
  explicit ScheduleReader(int rank) { schedule_.rank = rank; }

  Schedule read(std::istream& text) {
    std::string line;
    while (std::getline(text, line)) {
      ++line_number_;
      words_.clear();
      std::istringstream words(line);
      for (std::string word; words >> word;) words_.push_back(word);
      if (!words_.empty() && words_[0][0] != '#') read_line(joined());
    }
    if (schedule_.rank >= schedule_.world) {
      throw bad("the schedule is for " + std::to_string(schedule_.world) + " ranks, there is no rank " +
                std::to_string(schedule_.rank));
    }
    schedule_.local_rank = static_cast<int>(
        std::count(hosts_.begin(), hosts_.begin() + schedule_.rank, hosts_[place(schedule_.rank)]));
    return schedule_;
  }

 private:
  using Reader = void (ScheduleReader::*)(Operation&);
  struct Word {
    Op op;
    std::size_t fewest, most;  // words after the first
    Reader reader;
  };

  void read_line(const std::string& text) {
    if (words_[0] == "dtype") return read_dtype();
    if (words_[0] == "comm") return read_communicator();
    if (words_[0] == "rank") return read_rank();
    if (reading_ != schedule_.rank) return;
    const auto found = known_words().find(words_[0]);
    if (found == known_words().end()) throw not_understood();
    const Word& word = found->second;
    if (words_.size() - 1 < word.fewest || words_.size() - 1 > word.most) throw not_understood();
    Operation operation;
    operation.op = word.op;
    operation.text = text;
    if (word.reader) (this->*word.reader)(operation);
    schedule_.program.push_back(operation);
  }

  static const std::map<std::string, Word>& known_words() {
    using R = ScheduleReader;
    static const std::map<std::string, Word> known{
        {"step", {Op::kStep, 1, 1, &R::read_step}},
        {"endstep", {Op::kEndStep, 0, 0, nullptr}},
        {"sleep", {Op::kSleep, 1, 1, &R::read_sleep}},
        {"push", {Op::kPush, 1, 2, &R::read_push}},
        {"pop", {Op::kPop, 0, 0, nullptr}},
        {"comp", {Op::kCompute, 3, 4, &R::read_compute}},
        {"rec", {Op::kRecord, 2, 2, &R::read_order}},
        {"wait", {Op::kWait, 2, 2, &R::read_order}},
        {"coll", {Op::kCollective, 4, 7, &R::read_collective}},
        {"send", {Op::kSend, 4, 4, &R::read_message}},
        {"recv", {Op::kReceive, 4, 4, &R::read_message}},
        {"copy", {Op::kCopy, 3, 4, &R::read_copy}},
        {"sync", {Op::kSync, 0, 0, nullptr}},
        {"syncstream", {Op::kStreamSync, 1, 1, &R::read_stream}},
        {"syncevent", {Op::kEventSync, 1, 1, &R::read_event}},
        {"query", {Op::kQuery, 2, 2, &R::read_query}},
        {"malloc", {Op::kAllocate, 2, 2, &R::read_allocate}},
        {"free", {Op::kFree, 1, 1, &R::read_sleep}},
    };
    return known;
  }

  void read_dtype() {
    static const std::set<std::string> known{"bfloat16", "float16", "float32", "int8"};
    if (words_.size() != 2 || known.count(words_[1]) == 0) throw not_understood();
    schedule_.dtype = words_[1];
  }

  void read_communicator() {
    if (words_.size() < 3) throw not_understood();
    Communicator found{words_[1], {}};
    std::istringstream members(words_[2]);
    for (std::string member; std::getline(members, member, ',');) {
      found.members.push_back(static_cast<int>(integer(member)));
    }
    schedule_.communicators.push_back(found);
  }

  void read_rank() {
    if (words_.size() != 3 || integer(words_[1]) != schedule_.world) throw not_understood();
    hosts_.push_back(words_[2]);
    reading_ = schedule_.world++;
  }

  void read_step(Operation& o) { o.number = integer(words_[1]); }
  void read_sleep(Operation& o) { o.duration = duration(words_[1]); }
  void read_push(Operation& o) { o.name = words_[1]; }
  void read_stream(Operation& o) { o.stream = place_of(words_[1], schedule_.streams); }
  void read_event(Operation& o) { o.event = place_of(words_[1], schedule_.events); }

  void read_compute(Operation& o) {
    read_stream(o);
    o.name = words_[2];
    o.duration = duration(words_[3]);
  }

  void read_order(Operation& o) {
    read_stream(o);
    o.event = place_of(words_[2], schedule_.events);
  }

  void read_query(Operation& o) {
    read_event(o);
    o.duration = duration(words_[2]);
    if (o.duration == 0) throw not_understood();
  }

  void read_allocate(Operation& o) {
    o.bytes = size(words_[1]);
    o.duration = duration(words_[2]);
  }

  void read_copy(Operation& o) {
    read_stream(o);
    const std::string memory = words_.size() > 4 ? words_[4] : "pinned";
    o.to_device = words_[2] == "h2d";
    o.pageable = memory == "pageable";
    o.bytes = size(words_[3]);
    if ((!o.to_device && words_[2] != "d2h") || (!o.pageable && memory != "pinned")) {
      throw not_understood();
    }
  }

  void read_message(Operation& o) {
    read_stream(o);
    read_membership(o);
    o.other = static_cast<int>(integer(words_[3]));
    o.bytes = size(words_[4]);
    o.name = words_[0];
    const Communicator& communicator = schedule_.communicators[place(o.communicator)];
    if (o.other == schedule_.rank || communicator.place(o.other) < 0) throw not_understood();
  }

  void read_collective(Operation& o) {
    read_stream(o);
    read_membership(o);
    o.name = words_[3];
    o.bytes = size(words_[4]);
    o.number = numbers_[o.communicator]++;
    for (std::size_t i = 5; i < words_.size(); ++i) read_option(o, words_[i]);
    const bool has_root = is_from_root(o.name) || is_to_root(o.name);
    const Communicator& communicator = schedule_.communicators[place(o.communicator)];
    if (!collective_ops().count(o.name) || has_root != (o.other >= 0) ||
        (has_root && communicator.place(o.other) < 0)) {
      throw not_understood();
    }
  }

  void read_option(Operation& o, const std::string& word) {
    if (word.rfind("root=", 0) == 0) {
      o.other = static_cast<int>(integer(word.substr(5)));
    } else if (word.rfind("us=", 0) == 0) {
      o.duration = duration(word.substr(3));
    } else if (word.rfind("shares=", 0) == 0) {
      read_shares(o, word.substr(7));
    } else {
      o.number = integer(word);
    }
  }

  void read_shares(Operation& o, const std::string& word) {
    std::istringstream text(word);
    std::int64_t all = 0;
    for (std::string each; std::getline(text, each, ',');) {
      o.shares.push_back(size(each));
      all += o.shares.back();
    }
    const auto& members = schedule_.communicators[place(o.communicator)].members;
    const bool fits = o.shares.size() == members.size() && all == o.bytes;
    if (o.name != "all_to_all" || !fits) throw not_understood();
  }

  void read_membership(Operation& o) {
    const auto& all = schedule_.communicators;
    const auto found = std::find_if(all.begin(), all.end(), [this](const Communicator& each) {
      return each.name == words_[2];
    });
    if (found == all.end() || found->place(schedule_.rank) < 0) {
      throw bad(here() + ": rank " + std::to_string(schedule_.rank) +
                " is no member of a communicator " + words_[2]);
    }
    o.communicator = static_cast<int>(found - all.begin());
  }

  std::int64_t integer(const std::string& word) const {
    std::size_t end = 0;
    std::int64_t value = 0;
    try {
      value = std::stoll(word, &end);
    } catch (const std::logic_error&) {
      throw not_understood();
    }
    if (end != word.size()) throw not_understood();
    return value;
  }

  std::int64_t size(const std::string& word) const {
    const std::int64_t value = integer(word);
    if (value < 0) throw not_understood();
    return value;
  }

  // Microseconds with up to three decimals are exact ns.
  Ns duration(const std::string& word) const {
    const std::size_t point = word.find('.');
    std::string decimals = point == std::string::npos ? "" : word.substr(point + 1);
    if (decimals.size() > 3 || point == word.size() - 1) throw not_understood();
    decimals.resize(3, '0');
    return size(word.substr(0, point)) * 1000 + size(decimals);
  }

  static int place_of(const std::string& name, std::vector<std::string>& names) {
    const auto found = std::find(names.begin(), names.end(), name);
    const int place = static_cast<int>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    return place;
  }

  static std::size_t place(int number) { return static_cast<std::size_t>(number); }

  std::string joined() const {
    std::string text;
    for (const std::string& word : words_) text += (text.empty() ? "" : " ") + word;
    return text;
  }

  std::string here() const { return "line " + std::to_string(line_number_) + " of the schedule"; }
  Failure not_understood() const {
    return bad(here() + ", '" + joined().substr(0, 80) + "', is not understood");
  }

  Schedule schedule_;
  std::vector<std::string> words_;
  std::vector<std::string> hosts_;
  std::map<int, std::int64_t> numbers_;  // collectives so far, by communicator
  int reading_ = -1;
  int line_number_ = 0;
};

inline Schedule read_schedule(const std::string& path, int rank) {
  std::ifstream file(path);
  if (!file) throw bad("the schedule " + path + " cannot be read");
  return ScheduleReader(rank).read(file);
}

}  // namespace csg
