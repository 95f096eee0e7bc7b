// SPDX-License-Identifier: Apache-2.0

import RealmFormats
@testable import RealmHosting
import Testing

/// The settings of a node of a cluster.
@Suite struct ClusterSettingTests {
    private func configuration(_ text: String) throws -> Configuration {
        var configuration = Configuration()
        try configuration.apply(text: text, ofFile: "/etc/realm-rest.yaml")
        return configuration
    }

    @Test func `a node is named by options or by an object`() throws {
        let options = try configuration(
            "cluster: {log: 'postgres://u:p@db/x', node: n1, url: 'https://n1.example/', handOver: accel, replicas: none, requireStandby: true}\n"
        ).options.cluster
        #expect(options.address == "postgres://u:p@db/x" && options.node == "n1" && options.url == "https://n1.example")
        #expect(options.handOver == .accel && options.replicas == .none && options.requiresStandby)
        var line = try configuration("data: /\n")
        #expect(line.options.cluster == ClusterOptions())
        for (option, value) in [
            ("cluster", "host=db"), ("node", "n2"), ("url", "http://n2:1"), ("hand-over", "redirect"), ("replicas", "none"),
        ] {
            try line.apply(option: option, .string(value))
        }
        #expect(line.options.cluster.address == "host=db" && line.options.cluster.node == "n2")
        #expect(line.options.cluster.url == "http://n2:1" && line.options.cluster.handOver == .redirect)
        #expect(line.options.cluster.replicas == .none)
    }

    @Test(arguments: [
        ("cluster: {node: 'a b'}", "the name of a node has 1 to 64"),
        ("cluster: {handOver: x}", "one of refuse, redirect, accel"), ("cluster: {replicas: all}", "one of on-demand, none"),
        ("cluster: {url: n1}", "a URL such as"), ("cluster: {url: 'http://n1/path'}", "a URL such as"),
        ("cluster: {url: 'http://u@n1'}", "a URL such as"), ("cluster: {url: 'http://'}", "a URL such as"),
        ("cluster: {logs: x}", "there is no setting 'cluster.logs'"), ("cluster: {log: 7}", "expected a string"),
    ])
    func `what a setting cannot be is refused`(_ text: String, _ expected: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try configuration(text + "\n") }
        #expect(error?.text.contains(expected) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("cluster: {node: n1}", "needs 'cluster.log'"), ("cluster: {log: 'host=db', url: 'http://a'}", "'cluster.node'"),
        ("cluster: {log: 'host=db', node: n1}", "'cluster.url'"),
        ("cluster: {log: 'host=db', node: n1, url: 'http://a'}", "needs a folder for its realms"),
        ("cluster: {log: 'host=db', node: n1, url: 'http://a'}\ndata: /tmp\nship: /tmp", "which its log keeps"),
        ("cluster: {log: 'host=db', node: n1, url: 'http://a'}\ndata: /tmp\nreadOnly: true", "for reading only"),
    ])
    func `what does not fit together is told before the start`(_ text: String, _ expected: String) throws {
        let read = try configuration("memory: [m]\n" + text + "\n")
        let error = #expect(throws: ConfigurationError.self) { try read.check() }
        #expect(error?.text.contains(expected) == true, "\(String(describing: error))")
    }

    @Test func `bases are in the log or in a bucket`() throws {
        let node = "memory: [m]\ndata: /tmp\ncluster: {log: 'host=db', node: n1, url: 'http://a', "
        #expect(try configuration(node + "bases: postgres}\n").options.cluster.baseStore == BaseStoreTarget())
        for (text, expected) in [
            ("bases: /folder}", "'postgres' or s3://BUCKET/PREFIX"), ("bases: 's3://B'}", "'postgres' or s3://BUCKET/PREFIX"),
            ("basesRegion: eu-west-1}", "must be a bucket for this"), ("bases: 's3://bucket/x'}", "AWS_ACCESS_KEY_ID"),
            ("bases: 's3://bucket/x', basesEndpoint: x}", "expected an address"),
        ] {
            let error = #expect(throws: ConfigurationError.self) { try configuration(node + text + "\n").check() }
            #expect(error?.text.contains(expected) == true, "\(text): \(String(describing: error))")
        }
    }

    @Test(arguments: [
        ("postgres://user:se%40cret@db.example:5432/log?sslmode=require&password=x", "postgres://db.example:5432/log"),
        ("postgres://db/log", "postgres://db/log"), ("host=db password=secret user=u dbname=log", "host=db user=u dbname=log"),
        ("password='secret'", ""), ("host=/run port=1", "host=/run port=1"),
    ])
    func `an address is shown without secrets`(_ address: String, _ shown: String) {
        var options = ClusterOptions()
        options.address = address
        #expect(options.shownAddress == shown)
    }
}
