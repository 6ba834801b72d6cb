// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What kind of fault an error tells of, where callers may want to tell kinds apart. In Python such
// an error is also the built-in exception of its kind.
#pragma once
#include "base/error.h"

namespace stoker {

enum class Fault : uint8_t {
  kValue,  // a value that cannot be, and all else
  kType,  // a value of a type that cannot be: TypeError
  kIndex,  // a number of an axis, or a batch, that is not there: IndexError
  kKey,  // a name that nothing has: KeyError
};

struct OfFault {
  Fault fault;
};
// An E that tells its kind. Thrown by throw_fault(); handlers catch an E.
template <class E>
struct Faulty final : E, OfFault {
  Faulty(const std::string& what, Fault fault) : E(what), OfFault{fault} {}
};

inline Fault fault_of(const std::exception& e) {
  const auto* told = dynamic_cast<const OfFault*>(&e);
  return told ? told->fault : Fault::kValue;
}

template <class E>
[[noreturn]] void throw_fault(Fault fault, const std::string& what) {
  if (fault == Fault::kValue) throw E(what);
  throw Faulty<E>(what, fault);
}

// Throws an E with this text, of the kind of fault that `e` tells of.
template <class E>
[[noreturn]] void throw_like(const std::exception& e, const std::string& what) {
  throw_fault<E>(fault_of(e), what);
}

}  // namespace stoker
