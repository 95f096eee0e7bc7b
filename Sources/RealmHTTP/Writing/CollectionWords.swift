// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery

/// The words of changes in collections.
enum CollectionWords {
    static let list = ["add", "insert", "set", "remove", "move", "swap", "clear", "deleteAll"]
    static let set = ["insert", "remove", "clear", "union", "intersect", "minus"]
    static let dictionary = ["set", "remove", "clear"]
}
