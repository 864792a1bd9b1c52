// Communicators, and the operations of a schedule on them.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "ccl_library.h"
#include "engine.h"
#include "rendezvous.h"

namespace csg {

struct CommunicationBuffers {
  char* send = nullptr;
  char* receive = nullptr;
};

class Communicators {
 public:
  explicit Communicators(const Setting& setting)
      : schedule_(setting.schedule), options_(setting.options), watchdog_(setting.watchdog),
        element_(element_of(setting.schedule.dtype)) {}

  // All ranks make theirs in the same order, so that none waits for one that waits for it.
  void prepare() {
    std::set<Key> used;
    for (const Operation& each : schedule_.program) {
      if (communicates(each.op)) used.insert(key_of(each));
    }
    for (const Key& key : used) communicators_[key] = make(key);
  }

  void collective(const Operation& o, const CommunicationBuffers& b, hipStream_t stream) const {
    const Communicator& group = group_of(o);
    const Place place{communicators_.at(key_of(o)), static_cast<int>(group.members.size()),
                      group.place(o.other), group.place(schedule_.rank), stream};
    const Count all = count(o.bytes), share = count(o.bytes / place.size);
    const auto& op = o.name;
    if (op == "all_reduce") {
      CSG_CCL(AllReduce, b.send, b.receive, all.number, all.type, ncclSum, place.comm, stream);
    } else if (op == "barrier") {
      CSG_CCL(AllReduce, b.send, b.receive, 1, ncclFloat32, ncclSum, place.comm, stream);
    } else if (op == "all_gather") {
      CSG_CCL(AllGather, b.send, b.receive, share.number, share.type, place.comm, stream);
    } else if (op == "reduce_scatter") {
      CSG_CCL(ReduceScatter, b.send, b.receive, share.number, share.type, ncclSum, place.comm,
              stream);
    } else if (op == "broadcast") {
      CSG_CCL(Broadcast, b.send, b.receive, all.number, all.type, place.root, place.comm, stream);
    } else if (op == "reduce") {
      CSG_CCL(Reduce, b.send, b.receive, all.number, all.type, ncclSum, place.root, place.comm,
              stream);
    } else if (!o.shares.empty()) {
      exchange_unevenly(o, b, place);
    } else {
      exchange(op, share, b, place);
    }
  }

  void message(const Operation& o, const CommunicationBuffers& b, hipStream_t stream) const {
    const Count all = count(o.bytes);
    const Key key = key_of(o);
    if (o.op == Op::kSend) {
      CSG_CCL(Send, b.send, all.number, all.type, 1, communicators_.at(key), stream);
    } else {
      CSG_CCL(Recv, b.receive, all.number, all.type, 0, communicators_.at(key), stream);
    }
  }

 private:
  // Communicator; and of messages sender and receiver. Each direction between two ranks has a
  // communicator of its own, so that messages that cross do not wait for each other.
  using Key = std::tuple<int, int, int>;

  struct Place {
    ncclComm_t comm;
    int size, root, self;
    hipStream_t stream;
  };
  struct Element {
    ncclDataType_t type;
    std::size_t bytes;
  };
  struct Count {
    std::size_t number;
    ncclDataType_t type;
  };

  static Element element_of(const std::string& dtype) {
    if (dtype == "float32") return {ncclFloat32, 4};
    if (dtype == "float16") return {ncclFloat16, 2};
    return dtype == "int8" ? Element{ncclInt8, 1} : Element{ncclBfloat16, 2};
  }

  // Elements of the type that is sent where the bytes are whole ones, else bytes.
  Count count(std::int64_t bytes) const {
    const auto size = static_cast<std::size_t>(bytes);
    if (size % element_.bytes == 0) return {size / element_.bytes, element_.type};
    return {size, ncclUint8};
  }

  // What the libraries have under different names, or not at all: every pair on its own.
  void exchange(const std::string& op, const Count& share, const CommunicationBuffers& b,
                const Place& at) const {
    const bool has_all = op == "all_to_all" || at.self == at.root;
    const bool sends_all = op == "all_to_all" || (op == "scatter" && has_all);
    const bool receives_all = op == "all_to_all" || (op == "gather" && has_all);
    const std::size_t bytes = share.number * (share.type == ncclUint8 ? 1 : element_.bytes);
    CSG_CCL(GroupStart);
    for (int peer = 0; peer < at.size; ++peer) {
      const std::size_t offset = static_cast<std::size_t>(peer) * bytes;
      if (sends_all || (op == "gather" && peer == at.root)) {
        CSG_CCL(Send, b.send + (sends_all ? offset : 0), share.number, share.type, peer, at.comm,
                at.stream);
      }
      if (receives_all || (op == "scatter" && peer == at.root)) {
        CSG_CCL(Recv, b.receive + (receives_all ? offset : 0), share.number, share.type, peer,
                at.comm, at.stream);
      }
    }
    CSG_CCL(GroupEnd);
  }

  void exchange_unevenly(const Operation& o, const CommunicationBuffers& b,
                         const Place& at) const {
    const std::int64_t own = o.shares[static_cast<std::size_t>(at.self)];
    std::int64_t sent = 0, received = 0;
    CSG_CCL(GroupStart);
    for (std::size_t peer = 0; peer < o.shares.size(); ++peer) {
      const Count to = count(o.shares[peer]), from = count(own);
      const int number = static_cast<int>(peer);
      CSG_CCL(Send, b.send + sent, to.number, to.type, number, at.comm, at.stream);
      CSG_CCL(Recv, b.receive + received, from.number, from.type, number, at.comm, at.stream);
      sent += o.shares[peer];
      received += own;
    }
    CSG_CCL(GroupEnd);
  }

  Key key_of(const Operation& o) const {
    if (o.op == Op::kCollective) return {o.communicator, -1, -1};
    const bool sends = o.op == Op::kSend;
    return {o.communicator, sends ? schedule_.rank : o.other, sends ? o.other : schedule_.rank};
  }

  const Communicator& group_of(const Operation& o) const {
    return schedule_.communicators[static_cast<std::size_t>(o.communicator)];
  }

  ncclComm_t make(const Key& key) const {
    const auto [number, sender, receiver] = key;
    const Communicator& group = schedule_.communicators[static_cast<std::size_t>(number)];
    std::string name = "communicator" + std::to_string(number);
    int size = static_cast<int>(group.members.size());
    int self = group.place(schedule_.rank);
    if (sender >= 0) {
      name += "_" + std::to_string(sender) + "_to_" + std::to_string(receiver);
      size = 2;
      self = sender == schedule_.rank ? 0 : 1;
    }
    watchdog_.at("making communicator " + group.name + ", unique id in " + options_.rendezvous +
                 "/" + name + ".id");
    const ncclUniqueId id = unique_id(options_.rendezvous + "/" + name + ".id", self);
    ncclComm_t made = nullptr;
    CSG_CCL(CommInitRank, &made, size, id, self);
    return made;
  }

  static ncclUniqueId unique_id(const std::string& path, int self) {
    ncclUniqueId id;
    if (self == 0) {
      CSG_CCL(GetUniqueId, &id);
      publish(path, std::string(id.internal, sizeof id.internal));
      return id;
    }
    const std::string found = await(path);
    if (found.size() != sizeof id.internal) throw failed(path + " holds no unique id");
    std::memcpy(id.internal, found.data(), sizeof id.internal);
    return id;
  }

  const Schedule& schedule_;
  const Options& options_;
  Watchdog& watchdog_;
  const Element element_;
  std::map<Key, ncclComm_t> communicators_;
};

}  // namespace csg
