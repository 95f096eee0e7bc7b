// SPDX-License-Identifier: Apache-2.0

import RealmStorage

/// Lets a caller stop a query within one object, too: a path through several to-many links, or through nested
/// collections, can reach more objects than anybody wants to wait for.
final class Interrupt {
    /// Asked every so many steps whether to go on; nil never stops.
    var check: BoundQuery.Check?
    private var stepsUntilCheck = Interrupt.stepsPerCheck

    private static let stepsPerCheck = 4096

    /// Thrown through the layers that know storage errors only; `storage` turns it into `.cancelled`.
    static let error = StorageError.stopped(.expired)

    /// One more object or value was reached.
    @inline(__always) func step() throws(StorageError) {
        stepsUntilCheck -= 1
        if stepsUntilCheck == 0 { try ask() }
    }

    private func ask() throws(StorageError) {
        stepsUntilCheck = Interrupt.stepsPerCheck
        if let check, !check() { throw Interrupt.error }
    }
}
