// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// How many objects hold each embedded object of a class.
struct OwnerCounts {
    /// The keys of the embedded objects.
    private let keys: VerifiedKeys
    private let usesSlots: Bool
    /// The number of owners by slot, up to `maximum`; empty where objects have no slots.
    private var counts: [UInt8]
    /// The number of owners of objects that have more, or have no slots.
    private var others: [ObjectKey: Int] = [:]

    /// The greatest number that is kept by slot; objects with as many owners are among the others.
    private static let maximum: UInt8 = .max

    /// Makes counts of zero.
    ///
    /// - Parameters:
    ///   - keys: The keys of all objects of the class.
    ///   - limit: The size of the file in bytes. Links take some, so a class with more objects has
    ///     few that have owners.
    init(_ keys: VerifiedKeys, limit: UInt64) {
        self.keys = keys
        usesSlots = keys.hasSlots && UInt64(keys.slotCount) <= limit
        counts = [UInt8](repeating: 0, count: usesSlots ? keys.slotCount : 0)
    }

    /// Counts an owner of an object; one of no object of the class is not counted.
    @inline(__always) mutating func add(_ object: ObjectKey) {
        guard usesSlots, let slot = keys.slot(of: object), counts[slot] < OwnerCounts.maximum else { return addOther(object) }
        counts[slot] += 1
    }

    /// Counts an owner that is not counted by slot.
    private mutating func addOther(_ object: ObjectKey) {
        if keys.contains(object) { others[object, default: 0] += 1 }
    }

    /// Whether each object has exactly one owner.
    var areAllOne: Bool {
        usesSlots && others.isEmpty && counts.reduce(0) { $0 + Int($1) } == keys.count && counts.allSatisfy { $0 <= 1 }
    }

    func count(of object: ObjectKey) -> Int {
        (usesSlots ? keys.slot(of: object).map { Int(counts[$0]) } ?? 0 : 0) + (others[object] ?? 0)
    }
}
