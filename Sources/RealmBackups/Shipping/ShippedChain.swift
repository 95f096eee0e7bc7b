// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A base that was shipped, and the sequences of records that follow it.
package struct ShippedChain: Sendable {
    package let base: ShipName
    /// The length of the base in bytes.
    package let baseByteCount: Int
    /// The sequences of records, in the order of their versions. They may overlap: an attempt whose outcome was unknown is repeated.
    package let records: [(name: ShipName, byteCount: Int)]

    /// The number of the newest version that the chain leads to, according to the names.
    package var last: UInt64 { records.map(\.name.version).max() ?? base.version }

    /// The names of all files.
    package var names: [ShipName] { records.map(\.name) + [base] }

    /// Returns the chains in a store, the newest first. Records without a base are left out.
    ///
    /// - Parameter shipped: The files of one realm in the store.
    package static func chains(in shipped: [(name: ShipName, byteCount: Int)]) -> [ShippedChain] {
        var records: [ByteText: [(name: ShipName, byteCount: Int)]] = [:]
        for file in shipped where !file.name.isBase { records[file.name.chain, default: []].append(file) }
        let chains = shipped.filter(\.name.isBase).map { base in
            ShippedChain(
                base: base.name, baseByteCount: base.byteCount,
                records: (records[base.name.chain] ?? []).sorted { left, right in
                    (left.name.first, left.name.version) < (right.name.first, right.name.version)
                })
        }
        return chains.sorted { left, right in
            (left.base.seconds, left.base.version, left.base.chain) > (right.base.seconds, right.base.version, right.base.chain)
        }
    }

    /// Returns the files that need not be kept: the chains whose bases a rule for backups does not keep, and records without a base.
    ///
    /// - Parameters:
    ///   - shipped: The files of one realm in the store.
    ///   - retention: The retention of bases. The newest one is always kept.
    package static func surplus(
        of shipped: [(name: ShipName, byteCount: Int)], _ retention: BackupRetention
    ) -> [ShipName] {
        let chains = chains(in: shipped)
        // Two bases of the same second and version are distinguished by their place in the list.
        let bases = chains.enumerated().map { index, chain in
            BackupName(
                realm: chain.base.realm, seconds: chain.base.seconds, version: chain.base.version, number: UInt64(index + 1))
        }
        let surplus = Set(retention.surplus(of: bases))
        let dropped = zip(bases, chains).filter { surplus.contains($0.0) }.map(\.1)
        let known = Set<ByteText>(texts: chains.map(\.base.chain))
        // Of a chain the base goes last, so that an interrupted removal is completed by the next one.
        return dropped.flatMap(\.names) + shipped.map(\.name).filter { !$0.isBase && !known.contains($0.chain) }
    }
}
