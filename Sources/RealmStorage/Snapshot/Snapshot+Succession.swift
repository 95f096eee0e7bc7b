// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

extension Snapshot {
    /// Returns whether the top node of an earlier version lies in this version's file as it did in that version. It
    /// does after the next commit, which writes to free blocks only.
    package func holdsTop(of earlier: Snapshot) -> Bool {
        let ref = earlier.file.header.topRef
        guard !ref.isNone, let old = try? earlier.space.node(at: ref), let new = try? space.node(at: ref) else { return false }
        return old.flags == new.flags && old.count == new.count && old.bytes == new.bytes
    }
}
