// SPDX-License-Identifier: Apache-2.0

internal import RealmBackups
internal import RealmFormats
internal import RealmPlatform
internal import RealmReplica
internal import RealmStorage

/// The settings of a node of a cluster.
extension ServerSetting {
    /// The cluster of the server, and its role there.
    static let cluster: [ServerSetting] = [
        ServerSetting(
            "cluster.log", option: "cluster",
            read: { reader, json, options throws(Problem) in options.cluster.address = try reader.text(json) },
            show: { $0.cluster.shownAddress.map { .string($0) } ?? .null }),
        ServerSetting(
            "cluster.node", option: "node",
            read: { reader, json, options throws(Problem) in
                let id = try reader.text(json)
                guard ClusterNode.isName(id) else { throw reader.problem(ClusterNode.rule) }
                options.cluster.node = id
            },
            show: { $0.cluster.node.map { .string($0) } ?? .null }),
        ServerSetting(
            "cluster.url", option: "url",
            read: { reader, json, options throws(Problem) in
                let url = try reader.text(json)
                guard let defect = urlDefect(url) else {
                    options.cluster.url = url.hasSuffix("/") ? String(url.dropLast()) : url
                    return
                }
                throw reader.problem(defect)
            },
            show: { $0.cluster.url.map { .string($0) } ?? .null }),
        choice("cluster.handOver", option: "hand-over", \.cluster.handOver),
        choice("cluster.replicas", option: "replicas", \.cluster.replicas),
        ServerSetting(
            "cluster.bases", option: "bases",
            read: { reader, json, options throws(Problem) in
                guard let target = BaseStoreTarget.target(try reader.text(json)) else {
                    throw reader.problem(BaseStoreTarget.rule)
                }
                options.cluster.baseStore.target = target
            },
            show: { .string($0.cluster.baseStore.target?.place ?? BaseStoreTarget.log) }),
        .text("cluster.basesEndpoint", option: "bases-endpoint", \.cluster.baseStore.endpoint),
        .text("cluster.basesRegion", option: "bases-region", \.cluster.baseStore.region),
        ServerSetting(
            "cluster.basesCredentials", option: "bases-credentials",
            read: { reader, json, options throws(Problem) in options.cluster.baseStore.credentials = try reader.path(json) },
            show: { $0.cluster.baseStore.credentials.map { .string($0) } ?? .null }),
        .flag("cluster.requireStandby", option: "require-standby", \.cluster.requiresStandby),
    ]

    /// A setting with one of a few words as its value.
    private static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ key: String, option: String, _ path: any WritableKeyPath<ServerOptions, Choice> & Sendable
    ) -> ServerSetting {
        ServerSetting(
            key, option: option,
            read: { reader, json, options throws(Problem) in
                let names = Choice.allCases.map(\.rawValue)
                guard let value = Choice(rawValue: try reader.text(json)) else {
                    throw reader.problem("expected one of \(names.joined(separator: ", "))")
                }
                options[keyPath: path] = value
            },
            show: { .string($0[keyPath: path].rawValue) })
    }

    /// The reason why a text is not a URL at which clients could reach a node; nil when it is one.
    private static func urlDefect(_ url: String) -> String? {
        let rule = "expected a URL such as https://n1.example:8080, without a path"
        guard let scheme = ["http://", "https://"].first(where: { url.hasPrefix($0) }) else { return rule }
        let rest = url.dropFirst(scheme.count)
        let place = rest.hasSuffix("/") ? rest.dropLast() : rest
        let isPlain = place.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && ![0x22, 0x23, 0x2F, 0x3C, 0x3E, 0x3F, 0x40, 0x5C].contains($0)
        }
        return place.isEmpty || !isPlain ? rule : nil
    }
}
