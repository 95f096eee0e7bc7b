// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmStorage

extension MetricsRegistry {
    /// What is known of every open realm; counted when somebody asks.
    package func addRealms(_ catalog: Catalog) {
        add { [catalog] text in
            let realms = catalog.all.compactMap { entry -> (name: String, database: Database)? in
                guard case .ready(let database) = entry.state else { return nil }
                return (entry.name, database)
            }
            guard !realms.isEmpty else { return }
            func gauge(_ name: String, _ help: String, _ value: (Database) -> Int?) {
                text.header(name, .gauge, help)
                for realm in realms {
                    guard let value = value(realm.database) else { continue }
                    text.sample(name, [("realm", realm.name)], Double(value))
                }
            }
            gauge("pending_writes", "Writes that are not answered yet.") { $0.pendingWrites }
            gauge("live_versions", "Versions that are being read.") { $0.liveVersions }
            gauge("open_transactions", "Interactive transactions that hold the writer.") { $0.openTransaction == nil ? 0 : 1 }
            gauge("file_bytes", "Size of the file.") { $0.current.snapshot.file.fileByteCount }
            gauge("version", "Number of the newest version.") { Int(clamping: $0.current.token.version) }
        }
    }
}
