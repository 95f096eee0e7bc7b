// SPDX-License-Identifier: Apache-2.0

package import Foundation
internal import Synchronization

/// Change sets recorded from the reference engine.
package enum NotificationVectors {
    /// The folder that REALM_REST_VECTORS names, else the vectors beside the checkout where they are at hand, else those that
    /// are kept in the repository.
    package static let folder: URL =
        ProcessInfo.processInfo.environment["REALM_REST_VECTORS"].map { URL(fileURLWithPath: $0) }
        ?? Fixtures.shared?.appendingPathComponent("vectors/notifications")
        ?? Fixtures.packageRoot.appendingPathComponent("Tests/RealmEngineTests/Observation/Vectors")

    /// A file of vectors; nil when it is not at hand.
    package static func file(_ name: String) -> ParsedJSON? {
        if let known = known.withLock({ $0[name] }) { return known }
        let path = folder.appendingPathComponent(name + ".json").path
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        do {
            let file = try ParsedJSON(parsing: [UInt8](data))
            known.withLock { $0[name] = file }
            return file
        } catch {
            preconditionFailure("\(path): \(error)")
        }
    }

    /// Files that were read.
    private static let known = Mutex<[String: ParsedJSON]>([:])

    /// The vectors of a file that was found.
    package static func vectors(_ name: String) throws -> [ParsedJSON] {
        guard let file = file(name), let vectors = file["vectors"]?.elements else { throw Missing(name: name) }
        return vectors
    }

    package struct Missing: Error { package let name: String }
}

extension ParsedJSON {
    /// The elements as positions.
    package var indices: [Int] { elements?.compactMap(\.int) ?? [] }
}
