// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The key array of a cluster leaf or the offset array of an inner node: ascending numbers, unsigned at every width.
///
/// They are stored with the smallest width that fits, signed by the header but unsigned in meaning: a width of 8 bits holds 0
/// to 255. Their order is checked by the walks that rely on it, because a look-up cannot afford to.
package struct PackedOffsets: Sendable {
    /// The numbers as they are stored.
    private let integers: PackedIntegers
    /// The place of the node with the numbers, for error messages.
    private let ref: Ref
    /// The bits of a number in this width, which remove the sign.
    private var mask: UInt64 { .max &>> UInt64(truncatingIfNeeded: 64 &- integers.width) }
    /// How many numbers the array has.
    package var count: Int { integers.count }

    /// Attaches the numbers of `node`; throws `.corrupt` unless they are packed integers.
    init(_ node: Node) throws(StorageError) {
        guard !node.hasRefs else { throw node.corrupt("expected an array of offsets, found a node with refs") }
        integers = try node.integers()
        ref = node.ref
    }

    /// The number at `index`, which must be in `0..<count`.
    @inline(__always) package subscript(index: Int) -> UInt64 { UInt64(bitPattern: integers[index]) & mask }

    /// Returns the first index whose number is greater than `number`; `count` when there is none.
    ///
    /// - Complexity: O(log n).
    package func upperBound(_ number: UInt64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) >> 1
            if self[middle] <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the index of `number`, or nil when it is absent.
    ///
    /// - Complexity: O(log n).
    package func index(of number: UInt64) -> Int? {
        let after = upperBound(number)
        return after > 0 && self[after - 1] == number ? after - 1 : nil
    }

    /// Throws `.corrupt` unless every number is greater than the one before it. `what` names them in the message.
    func requireAscending(_ what: String) throws(StorageError) {
        guard integers.ascendsUnsigned() else { throw .corrupt(ref: ref, reason: "\(what) do not ascend") }
    }
}
