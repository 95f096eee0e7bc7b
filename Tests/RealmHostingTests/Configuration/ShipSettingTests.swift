// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmBackups
import RealmEngine
import RealmFormats
@testable import RealmHosting
import RealmTestSupport
import Testing

/// The settings of shipping.
@Suite struct ShipSettingTests {
    private func configuration(_ text: String) throws -> Configuration {
        var configuration = Configuration()
        try configuration.apply(text: text, ofFile: "/etc/realm-rest.yaml")
        return configuration
    }

    @Test func `the target is a path, a bucket or an object, and has defaults`() throws {
        #expect(try configuration("memory: [m]\n").options.ship == ShipPlan())
        #expect(try configuration("ship: shipped\n").options.ship.target?.place == "/etc/shipped")
        let all = try configuration(
            "ship: {to: 's3://bucket/a', every: 5s, keep: {daily: 7}, endpoint: 'http://127.0.0.1:9000', region: r-1}\n"
        ).options.ship
        #expect(all.target?.place == "s3://bucket/a" && all.every == .seconds(5) && all.region == "r-1")
        #expect(all.retention == BackupRetention("daily=7") && all.endpoint == "http://127.0.0.1:9000")
        var line = try configuration("ship: /a\n")
        for (option, value) in [("ship", "/b"), ("ship-every", "1s"), ("ship-keep", "hourly=3")] {
            try line.apply(option: option, .string(value))
        }
        #expect(line.options.ship.target?.place == "/b" && line.options.ship.every == .seconds(1))
        #expect(line.options.ship.retention == BackupRetention("hourly=3"))
    }

    @Test(arguments: [
        ("ship: /a\nship-every: 10ms", "expected a time from 50ms to 1d"), ("ship: 7", "expected a string"),
        ("ship: {path: a}", "there is no setting 'ship.path'"), ("ship: {to: a, keep: x}", "numbers for hourly"),
    ])
    func `what it cannot be is refused`(_ text: String, _ expected: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try configuration(text + "\n") }
        #expect(error?.text.contains(expected) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("ship: {every: 1s}", "shipping needs 'ship.to'"), ("ship: {to: /a, region: b}", "only a target s3://"),
        ("ship: 's3://no'", "'s3://no' is not"), ("ship: 's3://abc'", "expected a file, or AWS_ACCESS_KEY_ID"),
        ("ship: {to: 's3://abc', endpoint: 'a:1'}", "expected an address"),
        ("ship: 'ftp://a'", "expected the path of a folder or s3://"),
    ])
    func `what does not fit together is told before the start`(_ text: String, _ expected: String) throws {
        let read = try configuration("memory: [m]\n" + text + "\n")
        let error = #expect(throws: ConfigurationError.self) { try read.check() }
        #expect(error?.text.contains(expected) == true && error?.line == 2, "\(String(describing: error))")
    }
}
