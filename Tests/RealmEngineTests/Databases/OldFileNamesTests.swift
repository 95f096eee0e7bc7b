// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Options that name classes are checked against a file of formats 2 to 9 before it is converted.
@Suite struct OldFileNamesTests {
    /// Opens a copy of a fixture with options, and returns whether anything was converted.
    private func opening(_ change: (inout Database.OpenOptions) -> Void) throws -> (converts: Bool, error: StorageError?) {
        let path = NSTemporaryDirectory() + "names-\(UUID().uuidString).realm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(LegacyFixtures.bytes("v9-example")).write(to: URL(fileURLWithPath: path))
        let isConverted = Atomic(false)
        var options = Database.OpenOptions()
        options.control = WorkControl { _ in isConverted.store(true, ordering: .releasing) }
        change(&options)
        let name = try #require(RealmName("old"))
        var failure: StorageError?
        do throws(StorageError) {
            try Database.open(name: name, path: path, options).close()
        } catch {
            failure = error
        }
        return (isConverted.load(ordering: .acquiring), failure)
    }

    @Test func `a file that lacks a class that is named is not converted`() throws {
        let (converts, error) = try opening { $0.shownClasses = ShownClasses(["No such class"]) }
        #expect("\(try #require(error))".contains("there is no class 'No such class'"))
        #expect(!converts)
    }

    @Test func `a file that has the class that is named is converted and opened`() throws {
        let dump = try LegacyFixtures.dump("v9-example")
        let name = try #require(dump["classes"]?.elements?.first?["name"]?.text)
        let (converts, error) = try opening { $0.shownClasses = ShownClasses([name]) }
        #expect(error == nil && converts)
    }
}
