// SPDX-License-Identifier: Apache-2.0

package import RealmEngine

extension CollectionChanges {
    /// The change set as vectors write it.
    package init(vector: ParsedJSON) {
        self.init()
        deletions = vector["deletions"]?.indices ?? []
        insertions = vector["insertions"]?.indices ?? []
        modifications = vector["modifications"]?.indices ?? []
        modificationsNew = vector["modificationsNew"]?.indices ?? []
        moves = (vector["moves"]?.elements ?? []).map(\.indices).map { Move(from: $0[0], to: $0[1]) }
        isCleared = vector["cleared"]?.isTrue == true
        isRootDeleted = vector["rootDeleted"]?.isTrue == true
    }
}
