// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The rows of a leaf as JSON: what lines are made of.
final class RecoveredLeaf {
    /// The way a leaf was found.
    enum Origin: Int {
        /// It is of the present version.
        case present
        /// A former version leads to it.
        case version
        /// A table or an inner node in unused space leads to it.
        case parent
        /// It shares a column with a known leaf.
        case shared
        /// Its form fits one class only.
        case shape

        /// The name in lines.
        var name: String {
            switch self {
            case .present: return "present"
            case .version: return "version"
            case .parent: return "parent"
            case .shared: return "shared"
            case .shape: return "shape"
            }
        }
    }

    /// A version that leads to a leaf.
    struct Sighting {
        let version: UInt64
        /// Whether the version is proved to have had the leaf.
        let isDated: Bool
        /// Whether the version never counted.
        let isUnfinished: Bool
    }

    struct Column {
        /// The name of the property.
        let name: String
        /// The offset of its node; 0 for none.
        let ref: UInt64
        /// The certainty of its values.
        let strength: LeafEvidence.Strength
        /// The values one after another.
        private(set) var bytes: [UInt8] = []
        private var ends: [UInt32] = []
        /// Why values are lost, by row.
        private var losses: [Int: Loss] = [:]
        /// Possible values in place of lost ones, by row.
        private(set) var possible: [Int: [UInt8]] = [:]

        /// Makes a column without rows.
        init(name: String, ref: UInt64, strength: LeafEvidence.Strength) {
            self.name = name
            self.ref = ref
            self.strength = strength
        }

        /// Adds the value of the next row.
        mutating func append(_ value: Result<[UInt8], Loss>) {
            switch value {
            case .success(let text): bytes += text
            case .failure(let loss): losses[ends.count] = loss
            }
            ends.append(UInt32(clamping: bytes.count))
        }

        /// States what the lost value of a row might be.
        mutating func setPossible(_ text: [UInt8], row: Int) { possible[row] = text }

        /// Marks the value of a row as lost.
        mutating func lose(_ row: Int, _ loss: Loss) { losses[row] = loss }

        /// Returns why the value of a row is lost; nil for one that is known.
        func loss(_ row: Int) -> Loss? { losses[row] }

        /// Returns the value of a row; nil for one that is lost.
        func value(_ row: Int) -> ArraySlice<UInt8>? {
            guard losses[row] == nil, row < ends.count else { return nil }
            return bytes[Int(row == 0 ? 0 : ends[row - 1])..<Int(ends[row])]
        }
    }

    let table: FormerTable
    /// The offset of the leaf.
    let ref: UInt64
    /// The offset of the keys; nil where they are in the leaf.
    let keysRef: UInt64?
    /// The certainty of the keys.
    let keysStrength: LeafEvidence.Strength
    let origin: Origin
    /// The versions that lead to the leaf, in the order in which they were read; none for an orphan.
    private(set) var sightings: [Sighting]
    let columns: [Column]

    init(
        table: FormerTable, ref: UInt64, keys: (ref: UInt64?, strength: LeafEvidence.Strength), origin: Origin,
        sighting: Sighting?,
        columns: [Column]
    ) {
        (self.table, self.ref, self.origin, self.columns) = (table, ref, origin, columns)
        (keysRef, keysStrength) = keys
        sightings = sighting.map { [$0] } ?? []
    }

    /// The newest version that leads to the leaf; 0 for none.
    var newestVersion: UInt64 { sightings.first?.version ?? 0 }
    /// Whether only versions that never counted lead to the leaf.
    var isUnfinished: Bool { !sightings.isEmpty && sightings.allSatisfy(\.isUnfinished) }

    /// Notes another version that leads to the leaf.
    func add(_ sighting: Sighting) { sightings.append(sighting) }

    func hasSchema(of table: FormerTable) -> Bool {
        self.table === table
            || self.table.columns.count == table.columns.count
                && zip(self.table.columns, table.columns).allSatisfy { $0.isAlike($1) }
    }

    /// Returns whether two leaves have the same properties.
    func hasColumns(of other: RecoveredLeaf) -> Bool {
        guard columns.count == other.columns.count else { return false }
        return self === other || columns.indices.allSatisfy { other.columnIndex(columns[$0].name) != nil }
    }

    /// Returns the index of the column with a name; nil for none.
    func columnIndex(_ name: String) -> Int? { columns.indices.first { columns[$0].name == name } }
}
