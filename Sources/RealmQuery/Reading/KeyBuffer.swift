// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The keys of the objects that a path reaches from one object.
///
/// The operands of a query share these buffers: `take` one and `giveBack` it after each object.
struct KeyBuffer {
    /// The keys, in the order in which they were reached.
    private(set) var keys: [ObjectKey] = []
    /// The number of keys that the check has counted for this buffer.
    private var heldCount = 0
    /// The check that limits the number of keys; nil for no limit.
    private let cancellation: CancellationCheck?
    /// A buffer for more keys than this is released after each object.
    private static let keptCapacity = 1 << 14

    /// Creates an empty buffer.
    private init(_ cancellation: CancellationCheck?) { self.cancellation = cancellation }

    /// Returns an empty buffer of a query, which has to be given back.
    ///
    /// - Parameter cancellation: The check of the query, which keeps the buffers that are not in use; nil for a buffer without limit.
    static func take(_ cancellation: CancellationCheck?) -> KeyBuffer {
        var buffer = KeyBuffer(cancellation)
        if let spare = cancellation?.spareKeys.popLast() { buffer.keys = spare }
        return buffer
    }

    /// Gives a buffer back that was taken; it is empty afterwards.
    mutating func giveBack() {
        release()
        guard let cancellation else { return }
        cancellation.spareKeys.append(keys)
        keys = []
    }

    /// Adds a key.
    ///
    /// - Throws: A storage error when the query holds too many values.
    mutating func append(_ key: ObjectKey) throws(StorageError) {
        if let cancellation, keys.count - heldCount >= CancellationCheck.valuesPerCount - 1 {
            try cancellation.hold(CancellationCheck.valuesPerCount)
            heldCount += CancellationCheck.valuesPerCount
        }
        keys.append(key)
    }

    /// Puts the keys into ascending order.
    mutating func sort() {
        if keys.count > 1 { keys.sort() }
    }

    /// Removes all keys, and releases a long buffer.
    mutating func release() {
        if heldCount > 0 {
            cancellation?.release(heldCount)
            heldCount = 0
        }
        if keys.capacity > KeyBuffer.keptCapacity { keys = [] } else { keys.removeAll(keepingCapacity: true) }
    }
}
