// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
@testable import RealmHosting
import RealmTestSupport
import Testing

/// The settings of the audit log.
@Suite struct AuditSettingTests {
    private func options(_ text: String) throws -> AuditOptions {
        var configuration = Configuration()
        try configuration.apply(text: text, ofFile: "/etc/realm-rest.yaml")
        return configuration.options.audit
    }

    @Test func `the audit log is a path or an object, and has defaults`() throws {
        let usual = try options("memory: [m]\n")
        #expect(usual.file == nil && !usual.isRequired && usual.rotationBytes == 64 << 20 && usual.keptCount == 8)
        #expect(try options("audit: audit.log\n").file == "/etc/audit.log")
        let all = try options("audit: {file: /var/a.log, required: true, rotate: 1MiB, keep: 3}\n")
        #expect(all.file == "/var/a.log" && all.isRequired && all.rotationBytes == 1 << 20 && all.keptCount == 3)
        #expect(try options("audit: {file: a, rotate: 0}\n").rotationBytes == 0)
        // The command line states the file alone.
        var configuration = Configuration()
        try configuration.apply(text: "audit: {file: /var/a.log, required: true}\n", ofFile: "/etc/realm-rest.yaml")
        try configuration.apply(option: "audit", .string("b.log"))
        #expect(configuration.options.audit.file == "b.log" && configuration.options.audit.isRequired)
    }

    @Test(arguments: [
        ("audit: {file: a, rotate: 10}", "a number of bytes from 4096"), ("audit: {file: a, keep: 0}", "a number from 1 to 1000"),
        ("audit: {file: a, required: yes please}", "true or false"), ("audit: {path: a}", "there is no setting 'audit.path'"),
        ("audit: 7", "expected a string"), ("audit: [a]", "expected a string"), ("audit: ''", "expected a path"),
    ])
    func `what it cannot be is refused with its line`(_ text: String, _ expected: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try options("memory: [m]\n" + text + "\n") }
        #expect(error?.line == 2 && error?.text.contains(expected) == true, "\(String(describing: error))")
    }

    @Test func `a log without a file, and a file without a folder, are told before the start`() throws {
        for text in ["audit: {required: true}\n", "audit: {keep: 3}\n", "audit: {file: /none/such/audit.log}\n"] {
            var configuration = Configuration()
            try configuration.apply(text: text, ofFile: "/etc/realm-rest.yaml")
            let error = #expect(throws: ConfigurationError.self) { try configuration.check() }
            #expect(error?.line == 1, "\(text)")
        }
    }

    @Test func `a reload takes over whatever is said of the log, but not whether there is one`() throws {
        var (with, without) = (ServerOptions(), ServerOptions())
        with.audit.file = "/a"
        (without.audit.file, without.audit.isRequired) = (nil, false)
        var running = with
        var read = with
        (read.audit.file, read.audit.isRequired, read.audit.keptCount) = ("/b", true, 2)
        running.takeReloaded(read)
        #expect(running.audit == read.audit)
        running.takeReloaded(without)
        #expect(running.audit == read.audit)
        without.takeReloaded(with)
        #expect(without.audit.file == nil)
    }
}
