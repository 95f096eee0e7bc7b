// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The bytes of a file that one version does not use.
struct UnusedSpace {
    /// The free blocks by ascending position.
    private let blocks: [FreeBlock]
    /// The offset at which the file logically ends.
    private let logicalSize: UInt64

    /// Reads the free lists of a version.
    ///
    /// - Throws: `.corrupt` when they contradict themselves.
    init(of snapshot: Snapshot) throws(StorageError) {
        let free = try FreeSpace(snapshot.top, snapshot.space)
        blocks = FreeSpace.merged(free.usable, free.locked.map(\.block))
        logicalSize = UInt64(free.logicalSize)
    }

    /// Returns whether the byte at `offset` is unused.
    ///
    /// - Complexity: O(log number of blocks).
    func contains(_ offset: UInt64) -> Bool {
        guard offset < logicalSize else { return true }
        let position = Int(offset)
        var low = 0
        var high = blocks.count
        while low < high {
            let middle = (low + high) / 2
            if blocks[middle].end <= position { low = middle + 1 } else { high = middle }
        }
        return low < blocks.count && blocks[low].position <= position
    }
}
