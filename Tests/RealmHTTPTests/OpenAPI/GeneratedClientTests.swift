// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// A client that a generator makes of the OpenAPI document of a realm.
@Suite struct GeneratedClientTests {
    /// The generator, which `make setup-test` installs; nil when it is not there.
    private static let generator: String? = {
        let path = Fixtures.packageRoot.appendingPathComponent(".venv-test/bin/openapi-python-client").path
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    /// Uses the client with its types; prints what it found.
    private static let program = """
        import sys
        from shop import Client
        from shop.api.item import create_item, get_item, list_item
        from shop.models import ItemCreate
        client = Client(base_url=sys.argv[1])
        made = create_item.sync_detailed(client=client, body=ItemCreate(id=7, name="seven"))
        one = get_item.sync(client=client, key="7")
        page = list_item.sync(client=client)
        print(made.status_code.value, one.id, one.name, type(one).__name__, len(page.items), page.items[0].name)
        """

    private func run(_ arguments: [String], in folder: String) throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    @Test(.enabled(if: generator != nil, "`make setup-test` installs the generator"))
    func `D57: a client that is generated from the description of a realm compiles, and reads and writes typed objects`() throws {
        let generator = try #require(GeneratedClientTests.generator)
        let python = URL(fileURLWithPath: generator).deletingLastPathComponent().appendingPathComponent("python3").path
        try withWriteServer { (server: WriteServer) throws in
            let schema =
                #"{"classes":[{"name":"Item","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"name","type":"string","optional":true},{"name":"tags","type":"string","collection":"list"},{"name":"other","type":"object","objectType":"Item"}]}]}"#
            #expect(try server.attach(#"{"name":"shop","schema":\#(schema)}"#).status == 201)
            let folder = server.folder + "/client"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            func write(_ text: String, _ name: String) throws {
                try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
            }
            for realm in ["shop", "app"] {
                let document = try server.get("\(realm)/openapi.json")
                #expect(document.status == 200)
                try write(document.text, realm + ".json")
                try write("post_hooks: []\n", "settings.yaml")
                let made = try run(
                    [
                        generator, "generate", "--path", realm + ".json", "--output-path", realm, "--meta", "none", "--config",
                        "settings.yaml",
                    ], in: folder)
                #expect(made.status == 0, "\(made.output)")
                let compiled = try run([python, "-m", "compileall", "-q", realm], in: folder)
                #expect(compiled.status == 0, "\(compiled.output)")
            }
            try write(GeneratedClientTests.program, "use.py")
            let used = try run([python, "use.py", "http://127.0.0.1:\(server.port)"], in: folder)
            #expect(used.status == 0 && used.output == "201 7 seven Item 1 seven\n", "\(used.output)")
        }
    }
}
