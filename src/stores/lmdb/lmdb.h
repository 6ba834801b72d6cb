// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Databases of LMDB, read by their pages: where each value lies in the file.
//
// Note [LMDB's pages]
// Of two meta pages, that of the latest transaction tells the page size and the root of a tree.
// Branch pages list pages, leaf pages list keys with values, and a large value has its own pages:
//
//   page:    number:8 ...:2 flags:2 lower:2 upper:2 | places of nodes, 2 bytes each, up to byte
//            lower | ... | nodes
//   meta:    page head | magic:4 version:4 ...:16 page size:4 ...:44 the main tree: ...:4 flags:2
//            levels:2 ...:24 entries:8 root:8 | last page:8 transaction:8
//   node:    size:4 flags:2 key's size:2 | key | value, or its page:8 where it is large
//            of a branch: page:6 key's size:2 | key
//   large:   number:8 ...:2 flags:2 pages:4 | value
//
// All numbers are little-endian. Whatever a page says is checked before it is used: pages must lie
// within the file and be of the expected kind, each is visited at most once, and the numbers of
// levels and values must be right. The pages of a large value are looked at only when it is read.
#pragma once
#include <functional>

#include "stores/ranges.h"

namespace stoker::stores {

// Calls `found` for all values in the order of their keys. A place at the beginning of a page is
// that of a large value behind its page's header. Returns the size of a page. Throws SampleError
// that names the page, for a damaged database and for what is not supported: several values for a
// key, named databases within the main one, and other versions of the format.
int64_t find_lmdb_values(const Ranges& file,
                         const std::function<void(ByteSpan key, RecordPlace place)>& found);

// The value in the bytes of its place. Throws SampleError.
ByteSpan lmdb_value(ByteSpan bytes, RecordPlace place, int64_t page_size, const std::string& name);

// A folder's data.mdb, or the path itself where it is no folder.
std::string lmdb_file(const std::string& path);

}  // namespace stoker::stores
