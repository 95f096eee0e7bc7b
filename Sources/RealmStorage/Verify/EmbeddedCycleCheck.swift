// SPDX-License-Identifier: Apache-2.0

/// Finds embedded objects that hold themselves, by whatever way. No reader comes to an end with them.
///
/// Objects that hold each other are reached by no walk from the top, so they would go unseen without this. It removes objects
/// without owners again and again; what is left is in circles.
struct EmbeddedCycleCheck {
    /// An object of a table.
    struct Place: Hashable {
        /// The table.
        let table: TableKey
        /// The object.
        let object: ObjectKey
    }

    /// Which objects each object holds.
    private var held: [Place: [Place]] = [:]
    /// How many objects hold each object.
    private var owners: [Place: Int] = [:]

    /// Notes that `owner` holds `object` in one of its properties.
    mutating func add(_ owner: Place, holds object: Place) {
        held[owner, default: []].append(object)
        owners[object, default: 0] += 1
    }

    /// How many objects lie in cycles or below them. Those that no other one holds are taken away until there are none left.
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
