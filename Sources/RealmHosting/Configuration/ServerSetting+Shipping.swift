// SPDX-License-Identifier: Apache-2.0

internal import RealmBackups
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The settings of shipping.
extension ServerSetting {
    /// The target and the options of shipped commits.
    static let shipping: [ServerSetting] = [
        ServerSetting(
            "ship.to", option: "ship",
            read: { reader, json, options throws(Problem) in
                let place = try reader.text(json)
                options.ship.target = BackupTarget(BackupTarget.isURL(place) ? place : try reader.path(json))
            },
            show: { $0.ship.target.map { .string($0.place) } ?? .null }),
        ServerSetting(
            "ship.every", option: "ship-every",
            read: { reader, json, options throws(Problem) in
                options.ship.every = try reader.time(
                    json, ShipPlan.intervals, "expected a time from 50ms to 1d, such as 250ms or 5s")
            },
            show: { .string(DurationText.text($0.ship.every)) }),
        ServerSetting(
            "ship.keep", option: "ship-keep",
            read: { reader, json, options throws(Problem) in options.ship.retention = try retention(json, reader) },
            show: { $0.ship.retention.map { .string($0.description) } ?? .null }),
        text("ship.endpoint", option: "ship-endpoint", \.ship.endpoint),
        text("ship.region", option: "ship-region", \.ship.region),
        ServerSetting(
            "ship.credentials", option: "ship-credentials",
            read: { reader, json, options throws(Problem) in options.ship.credentials = try reader.path(json) },
            show: { $0.ship.credentials.map { .string($0) } ?? .null }),
    ]

    /// A setting whose value is a text that may be missing.
    static func text(
        _ name: String, option: String, _ path: any WritableKeyPath<ServerOptions, String?> & Sendable
    ) -> ServerSetting {
        ServerSetting(
            name, option: option,
            read: { reader, json, options throws(Problem) in options[keyPath: path] = try reader.text(json) },
            show: { options in options[keyPath: path].map { .string($0) } ?? .null })
    }
}
