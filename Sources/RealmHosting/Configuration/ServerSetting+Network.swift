// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The settings of listeners, certificates and proxies.
extension ServerSetting {
    /// Listeners, certificates and proxies.
    static let network: [ServerSetting] = [
        ServerSetting(
            "listeners", option: "listen",
            read: { reader, json, options throws(Problem) in
                options.listeners = try reader.list(json) { reader, one throws(Problem) in try listener(one, reader) }
                guard !options.listeners.isEmpty else { throw reader.problem("expected at least one listener") }
            },
            show: { .array($0.listeners.map { .string($0.description) }) }),
        .path("tls.certificate", option: "tls-certificate", \.tls.certificate),
        .path("tls.key", option: "tls-key", \.tls.key),
        ServerSetting(
            "tls.certificates", effect: .now,
            read: { reader, json, options throws(Problem) in
                options.tls.certificates = try reader.list(json) { reader, one throws(Problem) in try pair(one, reader) }
            },
            show: { .array($0.tls.certificates.map(show)) }),
        .flag("tls.selfSigned", option: "tls-self-signed", \.tls.isSelfSigned),
        ServerSetting(
            "tls.hsts", option: "tls-hsts", effect: .now,
            read: { reader, json, options throws(Problem) in options.tls.strictSeconds = try strictSeconds(json, reader) },
            show: { $0.tls.strictSeconds.map { .integer(Int64($0)) } ?? .null }),
        .path("tls.clientCA", option: "tls-client-ca", \.tls.clientAuthorities),
        ServerSetting(
            "certificates",
            read: { reader, json, options throws(Problem) in
                options.certificateRules = try reader.list(json) { reader, one throws(Problem) in try rule(one, reader) }
            },
            show: { .array($0.certificateRules.map(show)) }),
        ServerSetting(
            "trustedProxies", option: "trusted-proxy",
            read: { reader, json, options throws(Problem) in
                options.trustedProxies = TrustedProxies()
                for (index, text) in try reader.list(json, { reader, one throws(Problem) in try reader.text(one) }).enumerated() {
                    if text == TrustedProxies.unix {
                        options.trustedProxies.includesUnix = true
                    } else if let range = AddressRange(text) {
                        options.trustedProxies.ranges.append(range)
                    } else {
                        throw reader.inside(index).problem(AddressRange.rule)
                    }
                }
            },
            show: { options in
                let words = options.trustedProxies.includesUnix ? [TrustedProxies.unix] : []
                return .array((options.trustedProxies.ranges.map(\.text) + words).map { .string($0) })
            }),
    ]

    /// A setting whose value is the path of a file, which a reload reads again.
    private static func path(
        _ name: String, option: String, _ path: any WritableKeyPath<ServerOptions, String?> & Sendable
    ) -> ServerSetting {
        ServerSetting(
            name, option: option, effect: .now,
            read: { reader, json, options throws(Problem) in options[keyPath: path] = try reader.path(json) },
            show: { $0[keyPath: path].map { .string($0) } ?? .null })
    }

    // MARK: - Listeners

    /// Reads a listener: the text that the command line takes, or an object.
    private static func listener(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> ListenAddress {
        guard let object = json.object else {
            let text = try reader.text(json)
            guard var address = ListenAddress(text) else { throw reader.problem(ListenAddress.rule) }
            if !reader.isCommandLine, case .unix(let path) = address.place {
                address.place = .unix(path: try reader.path(.string(path)))
            }
            return address
        }
        let names = ["host", "port", "unix", "tls", "mode", "owner", "group"]
        _ = try SchemaReader(place: reader.place).members(json, names, reader.place)
        var address = ListenAddress(try place(object, reader))
        if let secure = object["tls"] { address.isSecure = try reader.inside("tls").flag(secure) }
        if let mode = object["mode"] {
            // YAML reads 0660 as a number of base 8 or 10, so the digits are stated as text.
            guard let number = SocketAccess.mode(try reader.inside("mode").text(mode)) else {
                throw reader.inside("mode").problem("expected octal digits in quotes, such as \"0660\"")
            }
            address.access.mode = number
        }
        if let owner = object["owner"] { address.access.owner = try reader.inside("owner").text(owner) }
        if let group = object["group"] { address.access.group = try reader.inside("group").text(group) }
        return address
    }

    private static func place(_ object: JSONObject, _ reader: SettingReader) throws(Problem) -> ListenAddress.Place {
        if let path = object["unix"] {
            guard object["host"] == nil, object["port"] == nil else {
                throw reader.problem("'unix' cannot be combined with 'host' or 'port'")
            }
            return .unix(path: try reader.inside("unix").path(path))
        }
        guard object["mode"] == nil, object["owner"] == nil, object["group"] == nil else {
            throw reader.problem("'mode', 'owner' and 'group' are for a Unix socket")
        }
        guard let port = object["port"] else { throw reader.problem("'port' or 'unix' must be given") }
        let host = try object["host"].map { json throws(Problem) in try reader.inside("host").text(json) }
        return .port(host: host ?? "127.0.0.1", port: try reader.inside("port").number(port, 0...65_535))
    }

    // MARK: - Certificates

    /// Reads the files of a certificate.
    private static func pair(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> TLSOptions.Pair {
        let object = try SchemaReader(place: reader.place).members(json, ["certificate", "key"], reader.place)
        guard let certificate = object["certificate"], let key = object["key"] else {
            throw reader.problem("'certificate' and 'key' must be given")
        }
        return TLSOptions.Pair(
            certificate: try reader.inside("certificate").path(certificate), key: try reader.inside("key").path(key))
    }

    /// Returns the files of a certificate as a configuration states them.
    private static func show(_ pair: TLSOptions.Pair) -> JSONValue {
        .object(JSONObject([("certificate", .string(pair.certificate)), ("key", .string(pair.key))]))
    }

    /// Reads the max-age of HSTS in seconds. Unlike elsewhere a year is a unit, of 365 days.
    private static func strictSeconds(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> Int {
        let rule = "expected a time up to 10y, such as 1y, 30d or 1h"
        if let text = json.string, text.hasSuffix("y") {
            guard let years = Quantity.number(text.dropLast()), years <= 10 else { throw reader.problem(rule) }
            return years * 365 * 86_400
        }
        return Int(try reader.time(json, .zero ... .seconds(3650 * 86_400), rule).components.seconds)
    }

    /// Reads a rule for certificates that identify a principal: a pattern for the subject or for one of the alternative names.
    private static func rule(_ json: JSONValue, _ reader: SettingReader) throws(Problem) -> CertificateRule {
        let object = try SchemaReader(place: reader.place).members(json, ["subject", "san", "name", "roles"], reader.place)
        let subject = object["subject"]
        guard let pattern = subject ?? object["san"], subject == nil || object["san"] == nil, let name = object["name"],
            let roles = object["roles"]
        else { throw reader.problem("'subject' or 'san', 'name' and 'roles' must be given") }
        let inner = reader.inside(subject == nil ? "san" : "subject")
        let text = try inner.text(pattern)
        guard text.contains(where: { $0 != "*" }) else { throw inner.problem("expected a pattern that is not only stars") }
        return CertificateRule(
            part: subject == nil ? .name : .subject, pattern: text, name: try reader.inside("name").text(name),
            roles: try reader.inside("roles").list(roles) { reader, one throws(Problem) in try reader.text(one) })
    }

    /// Returns which certificates mean a principal, as a configuration states it.
    private static func show(_ rule: CertificateRule) -> JSONValue {
        .object(
            JSONObject([
                (rule.part == .subject ? "subject" : "san", .string(rule.pattern)), ("name", .string(rule.name)),
                ("roles", .array(rule.roles.map { .string($0) })),
            ]))
    }
}
