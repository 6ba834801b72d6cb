// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Lists the picture formats.
#include "bindings.h"
#include "codec/codec.h"

namespace stoker::python {

void bind_codecs(nb::module_& m) {
  m.def(
      "codecs",
      [] {
        nb::list l;
        for (const KnownCodec& k : known_codecs()) {
          nb::dict d;
          d["format"] = k.format;
          d["is_there"] = k.codec() != nullptr;
          d["package"] = k.package;
          l.append(d);
        }
        return l;
      },
      "A dict for each picture format, with the fields of stoker.Codec as keys.");
}

}  // namespace stoker::python
