// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The keys of all objects of one tree, in little memory: whether it has an object, and a number for each of them, its slot.
///
/// Keys of a sound tree ascend, so they are a run of numbers, or bits above the first one, or, where they are far apart, are
/// looked up in the tree itself. Only the keys of a tree that is damaged are kept one by one.
struct VerifiedKeys {
    /// The forms in which keys are kept.
    private enum Form {
        /// All numbers from the first key on, as many as there are keys.
        case run
        /// One bit for each number from the first key to the last.
        case bits(KeyBitmap)
        case tree(Leaves)
        /// The keys of a tree that is not sound, or could not be read to its end.
        case set(Set<ObjectKey>)
    }

    /// Where the leaves of a tree begin and end.
    private struct Leaves {
        /// The tree, which was read to its end.
        let tree: ClusterTree
        /// The first key of each leaf that has one, ascending.
        var firsts: [Int64] = []
        /// The last key of the leaf.
        var lasts: [Int64] = []
        /// The slot of the first key.
        var slots: [Int] = []

        /// Adds the next leaf, which has keys.
        ///
        /// - Parameters:
        ///   - slot: The slot of its first key.
        mutating func add(_ leaf: ClusterLeaf, slot: Int) {
            firsts.append(leaf.key(at: 0).rawValue)
            lasts.append(leaf.key(at: leaf.count - 1).rawValue)
            slots.append(slot)
        }

        /// Returns the number of objects before the one with a key; nil when there is none.
        func slot(of key: ObjectKey) -> Int? {
            let number = key.rawValue
            var (low, high) = (0, firsts.count)
            while low < high {
                let middle = (low &+ high) >> 1
                if firsts[middle] <= number { low = middle &+ 1 } else { high = middle }
            }
            let leaf = low &- 1
            guard leaf >= 0, number <= lasts[leaf] else { return nil }
            let next = leaf &+ 1 < slots.count ? slots[leaf &+ 1] : Int.max
            // Keys without gaps, as most leaves have them.
            if lasts[leaf] &- firsts[leaf] < Int64(next &- slots[leaf]), next != Int.max {
                return slots[leaf] &+ Int(truncatingIfNeeded: number &- firsts[leaf])
            }
            guard let row = try? tree.find(key) else { return nil }
            return slots[leaf] + row.index
        }
    }

    /// The facts about the keys of a tree from the first walk over it.
    private struct Outline {
        /// The lowest key.
        var first: ObjectKey?
        /// The greatest key.
        var last = ObjectKey.null
        var count = 0
        /// How many leaves have keys.
        var leafCount = 0

        /// Adds the keys of the next leaf; returns false when they do not follow those before.
        mutating func add(_ leaf: ClusterLeaf) -> Bool {
            guard leaf.count > 0 else { return true }
            let (low, high) = (leaf.key(at: 0), leaf.key(at: leaf.count - 1))
            // Among keys of the same sign the order is that of unsigned numbers; a leaf ascends from its
            // offset on, modulo 2^64.
            guard low <= high, first == nil || last < low, ((first ?? low).rawValue < 0) == (high.rawValue < 0),
                (low.rawValue < 0) == (high.rawValue < 0)
            else { return false }
            first = first ?? low
            last = high
            count += leaf.count
            leafCount += 1
            return true
        }
    }

    private let form: Form
    /// The key of slot 0, where slots are numbers of keys.
    private let first: Int64
    let count: Int
    /// How many slots there are: a few more than keys, at most about twice as many.
    let slotCount: Int
    let hasNegative: Bool
    /// Whether a key is not negative.
    let hasLive: Bool

    init(_ keys: Set<ObjectKey>) {
        form = .set(keys)
        first = 0
        count = keys.count
        slotCount = 0
        hasNegative = keys.contains { $0.rawValue < 0 }
        hasLive = keys.contains { $0.rawValue >= 0 }
    }

    /// Reads the keys of a tree.
    ///
    /// - Parameters:
    ///   - control: Can cancel the reading; nil for none.
    /// - Returns: Nil for a tree whose keys do not ascend, have different signs, or cannot be read, and after a cancellation.
    init?(_ tree: ClusterTree, _ control: WorkControl? = nil) {
        guard let outline = VerifiedKeys.outline(tree, control) else { return nil }
        count = outline.count
        guard let first = outline.first else {
            (form, self.first, slotCount, hasNegative, hasLive) = (.run, 0, 0, false, false)
            return
        }
        hasNegative = first.rawValue < 0
        hasLive = !hasNegative
        // Keys of the same sign are less than 2^63 apart.
        let distance = outline.last.rawValue - first.rawValue
        self.first = first.rawValue
        if distance == Int64(outline.count) - 1 {
            form = .run
            slotCount = outline.count
        } else if distance < Int64(outline.count) * 2, UInt64(distance) >> 3 <= tree.space.limit,
            let bits = VerifiedKeys.bits(of: tree, from: first, through: outline.last, count: outline.count)
        {
            form = .bits(bits)
            slotCount = Int(distance) + 1
        } else {
            guard let leaves = VerifiedKeys.leaves(of: tree, leafCount: outline.leafCount) else { return nil }
            form = .tree(leaves)
            slotCount = outline.count
        }
    }

    /// Walks over a tree; returns nil when its keys do not ascend or cannot be read.
    private static func outline(_ tree: ClusterTree, _ control: WorkControl?) -> Outline? {
        var outline = Outline()
        do throws(StorageError) {
            var cursor = tree.leaves()
            while let leaf = try cursor.next() {
                try control?.check()
                guard outline.add(leaf) else { return nil }
            }
            return outline
        } catch { return nil }
    }

    /// Returns the bits of keys that are close together.
    private static func bits(
        of tree: ClusterTree, from first: ObjectKey, through last: ObjectKey, count: Int
    ) -> KeyBitmap? {
        guard var bits = KeyBitmap(from: first, through: last, forKeys: count) else { return nil }
        do throws(StorageError) {
            var cursor = tree.leaves()
            while let leaf = try cursor.next() { for row in 0..<leaf.count { bits.insert(leaf.key(at: row)) } }
            return bits
        } catch { return nil }
    }

    /// Returns where leaves begin and end.
    private static func leaves(of tree: ClusterTree, leafCount: Int) -> Leaves? {
        var leaves = Leaves(tree: tree)
        leaves.firsts.reserveCapacity(leafCount)
        leaves.lasts.reserveCapacity(leafCount)
        leaves.slots.reserveCapacity(leafCount)
        var count = 0
        do throws(StorageError) {
            var cursor = tree.leaves()
            while let leaf = try cursor.next() {
                if leaf.count > 0 { leaves.add(leaf, slot: count) }
                count += leaf.count
            }
            return leaves
        } catch { return nil }
    }

    /// Whether every key has a slot.
    var hasSlots: Bool {
        if case .set = form { return false }
        return true
    }

    @inline(__always) func contains(_ key: ObjectKey) -> Bool {
        switch form {
        case .run: return UInt64(bitPattern: key.rawValue &- first) < UInt64(slotCount)
        case .bits(let bits): return bits.contains(key)
        case .tree(let leaves): return leaves.slot(of: key) != nil
        case .set(let keys): return keys.contains(key)
        }
    }

    /// Returns the slot of an object, a number below `slotCount` that no other one has; nil when
    /// there is no such object, or objects have no slots.
    @inline(__always) func slot(of key: ObjectKey) -> Int? {
        switch form {
        case .run:
            let slot = UInt64(bitPattern: key.rawValue &- first)
            return slot < UInt64(slotCount) ? Int(truncatingIfNeeded: slot) : nil
        case .bits(let bits): return bits.contains(key) ? Int(truncatingIfNeeded: key.rawValue &- first) : nil
        case .tree(let leaves): return leaves.slot(of: key)
        case .set: return nil
        }
    }

    /// Calls `body` with all keys, ascending.
    func forEach(in tree: ClusterTree, _ body: (ObjectKey) -> Void) {
        if case .set(let keys) = form { return keys.sorted().forEach(body) }
        var cursor = tree.leaves()
        // The tree was read to its end before.
        while let leaf = try? cursor.next() { for row in 0..<leaf.count { body(leaf.key(at: row)) } }
    }

    /// Returns the slot of the object in a row of a leaf.
    ///
    /// - Parameters:
    ///   - leaf: A leaf of the tree.
    ///   - row: The row, in `0..<leaf.count`.
    ///   - position: The number of objects in the leaves before this one.
    @inline(__always) func slot(_ leaf: ClusterLeaf, _ row: Int, position: Int) -> Int {
        if case .tree = form { return position &+ row }
        return Int(truncatingIfNeeded: leaf.key(at: row).rawValue &- first)
    }
}
