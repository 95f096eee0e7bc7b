// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmTestSupport

extension CollectionChanges {
    /// The change set as vectors write it.
    init(expected json: ParsedJSON) {
        self.init()
        deletions = json["deletions"]?.indices ?? []
        insertions = json["insertions"]?.indices ?? []
        modifications = json["modifications"]?.indices ?? []
        modificationsNew = json["modificationsNew"]?.indices ?? []
        moves = (json["moves"]?.elements ?? []).map(\.indices).map { Move(from: $0[0], to: $0[1]) }
        isCleared = json["cleared"] == .bool(true)
        isRootDeleted = json["rootDeleted"] == .bool(true)
    }

    /// The new state from the old one, with `fresh` for what has to be read.
    func apply<Element>(to old: [Element], fresh: [Element]) -> [Element] {
        var result = old
        for index in deletions.reversed() { result.remove(at: index) }
        for index in insertions { result.insert(fresh[index], at: index) }
        for index in modificationsNew { result[index] = fresh[index] }
        return result
    }
}
