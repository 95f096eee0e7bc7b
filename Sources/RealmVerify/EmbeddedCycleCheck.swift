// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds embedded objects that hold themselves, directly or through others. A reader that follows
/// them would never end.
///
/// No object outside holds such objects, so a walk from top-level objects does not reach them. The
/// check removes objects without owners again and again; those that remain are in cycles, or held
/// by some that are.
struct EmbeddedCycleCheck {
    /// An embedded object.
    struct Place: Hashable {
        /// The table of the embedded object.
        let table: TableKey
        let object: ObjectKey
    }

    /// The objects that each object holds.
    private var held: [Place: [Place]] = [:]
    /// How many objects hold each object.
    private var owners: [Place: Int] = [:]

    /// Records that `owner` holds `object` in one of its properties.
    ///
    /// - Parameters:
    ///   - object: The object that is held, which may be the owner itself.
    mutating func add(_ owner: Place, holds object: Place) {
        held[owner, default: []].append(object)
        owners[object, default: 0] += 1
    }

    /// Returns how many objects are in cycles or held by some that are.
    ///
    /// - Complexity: O(number of recorded pairs).
    func objectsWithoutEnd() -> Int {
        var open = owners
        var free = held.keys.filter { open[$0] == nil }
        while let owner = free.popLast() {
            for object in held[owner] ?? [] {
                guard let count = open[object] else { continue }
                open[object] = count == 1 ? nil : count - 1
                if count == 1 { free.append(object) }
            }
        }
        return open.count
    }
}
