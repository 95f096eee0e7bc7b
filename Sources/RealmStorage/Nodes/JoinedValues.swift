// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The joined bytes of values that are split over several byte nodes, kept as long as their snapshot.
///
/// Only values beyond 16 MiB are split, and they are the only ones that cannot be read in place.
/// Each byte of the file belongs to one value, so all of them together are never longer than the
/// file; where they are, values share nodes and the file is damaged.
package final class JoinedValues: Sendable {
    /// The joined values and their total size, guarded by the lock.
    private struct State {
        /// Joined values by the ref of their list of parts.
        var values: [Ref: ByteStorage] = [:]
        /// How many bytes the joined values have together.
        var byteCount: UInt64 = 0
    }

    /// The values that were joined so far, for any thread that reads the snapshot.
    private let state = RankedMutex(.leaf, State())

    /// Makes an empty collection for one version.
    package init() {}

    /// Returns the bytes of a split value, which are joined when they are first needed.
    ///
    /// - Parameters:
    ///   - list: The node with the refs of the parts.
    ///   - space: The space that the parts are read in.
    /// - Throws: `.corrupt` when a part is not a byte node, or the values are longer than the file.
    func value(of list: Node, in space: NodeSpace) throws(StorageError) -> ByteView {
        if let known = state.withLock({ $0.values[list.ref]?.view }) { return known }
        let joined = ByteStorage(try JoinedValues.join(list, space))
        let accepted: ByteView? = state.withLock { state in
            if let known = state.values[list.ref] { return known.view }
            guard state.byteCount + UInt64(joined.view.count) <= space.limit else { return nil }
            state.byteCount += UInt64(joined.view.count)
            state.values[list.ref] = joined
            return joined.view
        }
        guard let accepted else { throw list.corrupt("split values hold more bytes than the file") }
        return accepted
    }

    /// Joins the parts of a value; throws `.corrupt` when they are longer than the file.
    private static func join(_ list: Node, _ space: NodeSpace) throws(StorageError) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<list.count {
            let part = try space.node(at: try list.requiredRef(index, "part of a split value"))
            guard !part.hasRefs, part.widthType == Node.WidthType.ignore.rawValue else {
                throw part.corrupt("a part of a split value is a byte node")
            }
            guard UInt64(bytes.count + part.count) <= space.limit else {
                throw list.corrupt("a split value holds more bytes than the file")
            }
            unsafe part.bytes.withBuffer { unsafe bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}
