// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Proves that header, reachable nodes and free blocks tile the logical file, with a bit of memory
/// for every eight bytes of it that are in use.
///
/// Reports about nodes that are too many, overlap, or leave gaps are left to `SpaceCheck`.
struct SpaceProof {
    /// The space that is walked through.
    private let space: NodeSpace
    /// The bytes that belong to a node.
    private let used: ByteMarks

    /// Walks through all nodes and reads the free lists.
    ///
    /// - Parameters:
    ///   - snapshot: The version that is checked.
    ///   - report: Gets the numbers of nodes and bytes, and warnings, but only if all is proved.
    /// - Returns: Whether the use of all bytes is proved to be sound.
    /// - Complexity: O(nodes).
    static func run(_ snapshot: Snapshot, _ report: inout VerifyReport) -> Bool {
        guard let used = try? ByteMarks(byteCount: snapshot.space.limit) else { return false }
        let proof = SpaceProof(space: snapshot.space, used: used)
        var found = report
        guard proof.walk(snapshot.top.ref, &found), proof.readFreeList(snapshot.top, &found) else { return false }
        let header = UInt64(FileHeader.byteCount)
        // Nothing overlaps, so what has all the bytes leaves no gaps.
        guard found.statistics.usedBytes + found.statistics.freeBytes + header == snapshot.space.limit else { return false }
        report = found
        return true
    }

    /// Visits all nodes and marks their bytes; returns false for a node that cannot be read or shares bytes with another one.
    private func walk(_ root: Ref, _ report: inout VerifyReport) -> Bool {
        var stack = [root]
        var budget = space.nodeBudget
        while let ref = stack.popLast() {
            guard report.control?.continues ?? true else { return false }
            guard let node = try? space.node(at: ref) else { return false }
            let byteCount = UInt64(node.byteCount)
            guard used.mark(ref.rawValue, ref.rawValue + byteCount) else { return false }
            report.statistics.nodes += 1
            report.statistics.usedBytes += byteCount
            SpaceCheck.checkSection(ref, byteCount, &report)
            guard node.hasRefs else { continue }
            for index in 0..<node.count {
                let raw = UInt64(bitPattern: node.integer(index))
                guard raw != 0, raw & 1 == 0 else { continue }
                stack.append(Ref(raw))
                budget -= 1
            }
            guard budget >= 0 else { return false }
        }
        return true
    }

    /// Reads the free lists, whose blocks must not overlap nodes or each other; returns false for
    /// anything that is not as in a sound file.
    private func readFreeList(_ top: TopNode, _ report: inout VerifyReport) -> Bool {
        guard !top.freePositions.isNone, !top.freeLengths.isNone else { return true }
        guard let positions = try? FreeSpace.integers(top.freePositions, space),
            let lengths = try? FreeSpace.integers(top.freeLengths, space), positions.count == lengths.count,
            hasSoundVersions(top, positions.count)
        else { return false }
        var previous: UInt64 = 0
        for index in 0..<positions.count {
            guard SpaceCheck.isBlock(positions[index], lengths[index], space) else { return false }
            let (start, length) = (UInt64(positions[index]), UInt64(lengths[index]))
            guard start >= previous, used.isUnmarked(start, start + length) else { return false }
            previous = start + length
            report.statistics.freeBytes += length
            report.statistics.freeBlocks += 1
        }
        return true
    }

    /// Returns whether each free block was released by a version up to this one, or no version is stated.
    private func hasSoundVersions(_ top: TopNode, _ count: Int) -> Bool {
        guard !top.freeVersions.isNone else { return true }
        guard let versions = try? FreeSpace.integers(top.freeVersions, space), versions.count == count else { return false }
        return (0..<count).allSatisfy { versions[$0] <= Int64(clamping: top.version) }
    }
}
