// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension ColumnLeaf {
    /// Appends the values of several rows.
    ///
    /// The type of the leaf is determined once, not for each row.
    ///
    /// - Parameters:
    ///   - rows: The rows of the leaf, which are taken in ascending order.
    ///   - values: Receives one value for each row.
    func append(_ rows: Mask, to values: inout [Value]) throws(StorageError) {
        switch self {
        case .int(let leaf): rows.forEach { values.append(leaf.value($0)) }
        case .bool(let leaf): rows.forEach { values.append(leaf.value($0)) }
        case .string(let leaf): try rows.forEach { row throws(StorageError) in values.append(try leaf.value(row)) }
        case .binary(let leaf): try rows.forEach { row throws(StorageError) in values.append(try leaf.value(row)) }
        case .mixed(let leaf):
            let payloads = try leaf.attachPayloads()
            try rows.forEach { row throws(StorageError) in values.append(try leaf.value(row, payloads)) }
        case .timestamp(let leaf): try rows.forEach { row throws(StorageError) in values.append(try leaf.value(row)) }
        case .float(let leaf): rows.forEach { values.append(leaf.value($0)) }
        case .double(let leaf): rows.forEach { values.append(leaf.value($0)) }
        case .decimal(let leaf): rows.forEach { values.append(leaf.value($0)) }
        case .link(let leaf): rows.forEach { values.append(leaf.value($0)) }
        case .identifier(let leaf): rows.forEach { values.append(leaf.value($0)) }
        }
    }
}
