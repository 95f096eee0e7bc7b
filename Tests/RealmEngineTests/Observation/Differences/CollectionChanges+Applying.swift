// SPDX-License-Identifier: Apache-2.0

import RealmEngine

extension CollectionChanges {
    /// The new state from the old one, with `fresh` for what has to be read.
    func apply<Element>(to old: [Element], fresh: [Element]) -> [Element] {
        var result = old
        for index in deletions.reversed() { result.remove(at: index) }
        for index in insertions { result.insert(fresh[index], at: index) }
        for index in modificationsNew { result[index] = fresh[index] }
        return result
    }
}
