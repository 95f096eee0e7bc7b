// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmAccess
internal import RealmBackups
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The options of a server as they are at present, which a reload of the configuration changes while requests run.
///
/// There is one for a server. Any thread may call it.
package final class LiveOptions: Sendable {
    /// The limits in force, apart from the other options because all requests read them.
    package let limits: LiveLimits
    private let newest: RankedMutex<ServerOptions>
    /// The name of the default realm, which is found out once: it may depend on a file.
    private let nameOfDefault: RankedMutex<String>

    /// Makes options that hold until they are replaced.
    ///
    /// - Parameter options: The options that the server is started with.
    package init(_ options: ServerOptions) {
        limits = LiveLimits(options.limits)
        newest = RankedMutex(.leaf, options)
        nameOfDefault = RankedMutex(.leaf, options.nameOfDefault)
    }

    /// The options in force.
    package var current: ServerOptions { newest.withLock { $0 } }

    /// The name of the default realm, which `@default` represents in paths.
    package var defaultRealm: String { nameOfDefault.withLock { $0 } }

    /// The roles in force, apart from the other options because all requests ask for them.
    package var roles: RoleBook { newest.withLock { $0.roles } }

    /// The principals that certificates of clients identify, for the same reason.
    package var certificateRules: [CertificateRule] { newest.withLock { $0.certificateRules } }

    /// Puts options in force that were read again, as far as they can be while the server runs.
    ///
    /// - Returns: The options that were in force before.
    package func takeReloaded(_ options: ServerOptions) -> ServerOptions {
        let (old, new) = newest.withLock { current -> (ServerOptions, ServerOptions) in
            let old = current
            current.takeReloaded(options)
            return (old, current)
        }
        limits.replace(with: new.limits)
        if old.roles !== new.roles { old.roles.retire(for: new.roles) }
        let name = new.nameOfDefault
        nameOfDefault.withLock { $0 = name }
        return old
    }
}

extension ServerOptions {
    /// Takes over the values of all settings that can change while a server runs.
    ///
    /// - Parameter other: The options that were read again.
    package mutating func takeReloaded(_ other: ServerOptions) {
        for entry in Limits.entries where entry.takesEffect != .restart {
            limits[keyPath: entry.path] = other.limits[keyPath: entry.path]
        }
        defaultRealm = other.defaultRealm
        idleSeconds = other.idleSeconds
        openLimit = other.openLimit
        realms = other.realms
        keys = other.keys
        backlinkNames = other.backlinkNames
        upgradesInPlace = other.upgradesInPlace
        verification = other.verification
        keptCopyCount = other.keptCopyCount
        retention = other.retention
        backupPlan = other.backupPlan
        tokenIssuers = other.tokenIssuers
        // The book that is in use has rights that were resolved already.
        if roles.entry != other.roles.entry { roles = other.roles }
        logLevel = other.logLevel
        // Whether there is an audit log is decided at the start.
        if audit.file != nil, other.audit.file != nil { audit = other.audit }
        // Whether there is encryption at all, and a certificate for trials, is decided at the start.
        if tls.isOn, other.tls.isOn {
            let isSelfSigned = tls.isSelfSigned
            tls = other.tls
            tls.isSelfSigned = isSelfSigned
        }
        // A server without a log has none to write to, and the lines of the others have another form.
        if logFormat != nil, let format = other.logFormat { logFormat = format }
    }

    package func changedSettings(from other: ServerOptions) -> [ServerSetting] {
        ServerSetting.all.filter { setting in
            switch setting.name {
            // Their text shows no secrets, so it does not reveal whether they differ.
            case "keys": return keys != other.keys
            case "backlinkNames": return backlinkNames != other.backlinkNames
            case "realms":
                return realms.count != other.realms.count
                    || zip(realms, other.realms).contains { $0.name != $1.name || !$0.isSame(as: $1) }
            case "backup":
                return backupPlan?.key != other.backupPlan?.key || setting.show(self) != setting.show(other)
            default: return setting.show(self) != setting.show(other)
            }
        }
    }
}
