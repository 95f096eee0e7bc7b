// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A path for a Realm file that is removed, with what belongs to it, when this object goes.
package final class TemporaryRealm {
    package let url: URL
    package var path: String { url.path }

    /// An empty place, or a copy of a fixture.
    package init(_ fixture: String? = nil) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("realm-rest-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("test.realm")
        if let fixture { try FileManager.default.copyItem(atPath: try Fixtures.path(fixture), toPath: url.path) }
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

    package var bytes: [UInt8] { get throws { [UInt8](try Data(contentsOf: url)) } }

    package func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: url) }
}
