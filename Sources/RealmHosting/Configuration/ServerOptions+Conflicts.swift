// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmBackups
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Conflicts among options, or with this machine, that can be found before anything is opened.
///
/// The start of a server refuses most of them too, but later; this serves to report their place in a file.
extension ServerOptions {
    /// The place of a setting, or of a part of its value.
    struct SettingPlace {
        /// The name of the setting, with those of the members that lead to the part.
        let name: String
        /// The place as a JSON Pointer into a configuration file.
        let pointer: String

        /// Makes the place of a part of the value of a setting; of the whole value without a path.
        init(_ name: String, _ path: [InputPath.Step] = []) {
            let inner = path.compactMap { step -> String? in if case .name(let name) = step { "." + name } else { nil } }
            self.name = name + inner.joined()
            pointer = "/" + name.replacing(".", with: "/") + InputPath(path).description
        }
    }

    /// Options that cannot be used.
    struct Conflict {
        /// The settings that are to blame, the first choice first.
        let settings: [SettingPlace]
        /// Whether options of the command line are refused for it as such.
        var isOfOptions = false
        /// Returns the error as a sentence, or nil. It may examine the machine, so it is called only when the options are from a
        /// file.
        let text: () -> String?
    }

    /// A realm that is named by the options.
    private struct Named {
        /// The name under which it is served.
        let name: String
        /// Its place in the configuration.
        let place: SettingPlace
        /// The path of its file; nil for a realm in memory.
        let path: String?
        /// Whether the file itself is served, and not a copy.
        let ownsFile: Bool
    }

    /// Whether nothing is named that could be served.
    package var servesNothing: Bool { paths.isEmpty && dataFolder == nil && memoryRealms.isEmpty && realms.isEmpty }

    /// The possible conflicts, in the order in which the start of a server finds them.
    ///
    /// - Parameter keySets: Reads the keys of issuers, and keeps them for putting the options in force.
    func conflicts(_ keySets: KeySetFiles) -> [Conflict] {
        var conflicts = exclusions
        conflicts += [
            Conflict(settings: [SettingPlace("admin")]) {
                guard case .port(let host, _) = admin else { return nil }
                return ServerOptions.defect(of: host, StartRefusal.adminExposure)
            },
            Conflict(settings: [SettingPlace("data")]) {
                dataFolder.flatMap { RealmFiles.isFolder($0) ? nil : StartRefusal.missingFolder($0) }
            },
        ]
        conflicts += conflictsOfNetwork
        for (index, folder) in attachRoots.enumerated() {
            conflicts.append(
                Conflict(settings: [SettingPlace("attachRoots", [.index(index)])]) {
                    RealmFiles.isFolder(folder) ? nil : StartRefusal.missingFolder(folder)
                })
        }
        conflicts += conflictsOfRoles + conflictsOfIssuers(keySets)
        conflicts += conflictsOfAudit
        conflicts += conflictsOfShipping
        conflicts += conflictsOfCluster
        conflicts += conflictsOfNames
        let names = ["limits.connections", "limits.spool-files", "limits.admin-connections"]
        conflicts.append(
            Conflict(settings: names.map { SettingPlace($0) }) {
                do throws(DescriptorBudget.Failure) {
                    try DescriptorBudget(limits).require(realms: 0)
                    return nil
                } catch {
                    return error.description
                }
            })
        return conflicts
    }

    /// An audit log that has no file, or whose file has no folder.
    private var conflictsOfAudit: [Conflict] {
        let others = ["audit.required", "audit.rotate", "audit.keep"].map { SettingPlace($0) }
        return [
            Conflict(settings: others, isOfOptions: true) {
                audit.file == nil && audit != AuditOptions() ? "an audit log needs 'audit.file'" : nil
            },
            Conflict(settings: [SettingPlace("audit.file")]) {
                guard let file = audit.file else { return nil }
                let folder = System.folder(of: file)
                return RealmFiles.isFolder(folder) ? nil : StartRefusal.missingFolder(folder)
            },
        ]
    }

    /// A place for commits that is missing or cannot be used.
    private var conflictsOfShipping: [Conflict] {
        let others = ["every", "keep", "endpoint", "region", "credentials"].map { SettingPlace("ship." + $0) }
        let parts: [BackupTarget.Part] = [.to, .endpoint, .region, .credentials]
        return [
            Conflict(settings: others, isOfOptions: true) {
                ship.target == nil && ship != ShipPlan() ? "shipping needs 'ship.to'" : nil
            }
        ]
            + parts.map { part in
                Conflict(settings: [SettingPlace("ship." + part.rawValue), SettingPlace("ship.to")], isOfOptions: true) {
                    do throws(BackupTarget.Rejection) {
                        _ = try ship.store(environment)
                        return nil
                    } catch {
                        return error.part == part ? error.text : nil
                    }
                }
            }
    }

    /// Conflicts of a node that lacks a required option, or whose log would not notice a change.
    private var conflictsOfCluster: [Conflict] {
        let others = [
            "node", "url", "handOver", "replicas", "bases", "basesEndpoint", "basesRegion", "basesCredentials", "requireStandby",
        ].map { SettingPlace("cluster." + $0) }
        let log = SettingPlace("cluster.log")
        return [
            Conflict(settings: others, isOfOptions: true) {
                cluster.address == nil && cluster != ClusterOptions() ? "a node of a cluster needs 'cluster.log'" : nil
            },
            Conflict(settings: [log], isOfOptions: true) {
                guard cluster.address != nil else { return nil }
                if cluster.node == nil { return "a node of a cluster needs a name: 'cluster.node'" }
                if cluster.url == nil { return "a node of a cluster needs the URL at which clients reach it: 'cluster.url'" }
                return dataFolder == nil ? "a node of a cluster needs a folder for its realms: 'data'" : nil
            },
            Conflict(settings: [log, SettingPlace("ship.to")], isOfOptions: true) {
                cluster.address != nil && ship.target != nil
                    ? "a node of a cluster cannot ship commits, which its log keeps" : nil
            },
            Conflict(settings: [log, SettingPlace("readOnly")], isOfOptions: true) {
                cluster.address != nil && isReadOnly ? "a node of a cluster cannot be for reading only" : nil
            },
        ] + conflictsOfBases
    }

    /// A place for bases that cannot be used.
    private var conflictsOfBases: [Conflict] {
        let place = cluster.baseStore
        let parts: [(BackupTarget.Part, String)] = [
            (.to, "bases"), (.endpoint, "basesEndpoint"), (.region, "basesRegion"), (.credentials, "basesCredentials"),
        ]
        return [
            Conflict(settings: parts.dropFirst().map { SettingPlace("cluster." + $0.1) }, isOfOptions: true) {
                place.target == nil && place != BaseStoreTarget() ? "'cluster.bases' must be a bucket for this" : nil
            }
        ]
            + parts.map { part, name in
                Conflict(settings: [SettingPlace("cluster." + name), SettingPlace("cluster.bases")], isOfOptions: true) {
                    do throws(BackupTarget.Rejection) {
                        _ = try place.files(environment)
                        return nil
                    } catch {
                        return error.part == part ? error.text : nil
                    }
                }
            }
    }

    /// Roles of issuers, certificates and stored keys that do not exist.
    private var conflictsOfRoles: [Conflict] {
        let check = CredentialCheck(self)
        let issuers = tokenIssuers.enumerated().map { index, issuer in
            Conflict(settings: [SettingPlace("credentials.jwt", [.index(index), .name("roles")])]) {
                check.defect(ofRoles: issuer.roles)
            }
        }
        let certificates = certificateRules.enumerated().map { index, rule in
            Conflict(settings: [SettingPlace("certificates", [.index(index), .name("roles")])]) {
                check.defect(ofRoles: rule.roles)
            }
        }
        let keys = Conflict(settings: [SettingPlace("roles"), SettingPlace("data")]) {
            dataFolder.flatMap { check.defect(ofKeys: KeyFile(dataFolder: $0)) }
        }
        return issuers + certificates + [keys]
    }

    /// Files of issuers of tokens that cannot be used. Each is read once.
    private func conflictsOfIssuers(_ keySets: KeySetFiles) -> [Conflict] {
        tokenIssuers.enumerated().flatMap { index, issuer in
            let loader = KeyLoader(settings: issuer, seconds: 1, control: WorkControl())
            return [
                Conflict(settings: [SettingPlace("credentials.jwt", [.index(index), .name(issuer.sourceMember)])]) {
                    do throws(KeyLoader.Defect) {
                        if !issuer.isRemote { _ = try keySets.load(loader) }
                        return nil
                    } catch {
                        return error.text
                    }
                },
                Conflict(settings: [SettingPlace("credentials.jwt", [.index(index), .name("jwksCA")])]) {
                    do throws(KeyLoader.Defect) {
                        try KeyLoader.checkAuthority(issuer)
                        return nil
                    } catch {
                        return error.text
                    }
                },
            ]
        }
    }

    private var exclusions: [Conflict] {
        var conflicts: [Conflict] = []
        let (usual, names) = (
            ServerOptions(), [SettingPlace("listeners"), SettingPlace("listen.host"), SettingPlace("listen.port")]
        )
        if !listeners.isEmpty, host != usual.host || port != usual.port {
            conflicts.append(
                Conflict(settings: names, isOfOptions: true) { "a list of listeners cannot be combined with 'host' and 'port'" })
        }
        for (name, isSet) in [("follow", followsFiles), ("readOnly", isReadOnly)] where isSet && upgradesInPlace {
            conflicts.append(
                Conflict(settings: [SettingPlace("upgrade"), SettingPlace(name)], isOfOptions: true) {
                    "'upgrade' and '\(name)' cannot be combined"
                })
        }
        // The command line may state both of a realm of the file, and wins.
        for realm in realms {
            let name = realm.name.text
            let both = [
                ("keys", "keyFile", keys[name] != nil), ("backlinkNames", "backlinkNames", backlinkNames[name] != nil),
            ]
            for (setting, member, isSet) in both where isSet && realm.entry.object?[member] != nil {
                conflicts.append(
                    Conflict(settings: [SettingPlace(setting, [.name(name)])]) {
                        "this is stated twice, also as 'realms.\(name).\(member)'"
                    })
            }
        }
        return conflicts
    }

    /// Returns why a host is refused: it has no address, or one that other machines can reach.
    static func defect(of host: String, _ exposure: (String) -> String) -> String? {
        do throws(ListeningSocket.Failure) {
            guard let address = try ListeningSocket.address(of: host), !Request.isOfThisMachine(address) else { return nil }
            return exposure(address)
        } catch {
            return error.description
        }
    }

    // MARK: - Names

    /// The realms that the options name, in the order in which they are opened.
    private var named: [Named] {
        var named: [Named] = []
        for (index, path) in paths.enumerated() {
            let place = SettingPlace("files", [.index(index)])
            let isFolder = RealmFiles.isFolder(path)
            for file in isFolder ? (try? RealmFiles.list(in: path)) ?? [] : [path] {
                guard let name = RealmName(file: file)?.text else { continue }
                // A file that was found in a folder is left out when another realm has it.
                named.append(Named(name: name, place: place, path: file, ownsFile: !followsFiles && !isFolder))
            }
        }
        for realm in realms {
            let isOwner = realm.settings.mode != .copy && realm.settings.mode != .follow
            let place = SettingPlace("realms", [.name(realm.name.text)])
            named.append(Named(name: realm.name.text, place: place, path: realm.path, ownsFile: isOwner))
        }
        for (index, name) in memoryRealms.enumerated() {
            let place = SettingPlace("memory", [.index(index)])
            named.append(Named(name: name, place: place, path: nil, ownsFile: false))
        }
        return named
    }

    /// Names that are used twice or not at all, and files that two realms have.
    private var conflictsOfNames: [Conflict] {
        var conflicts: [Conflict] = []
        var places: [ByteText: SettingPlace] = [:]
        var owners: [ByteText: Named] = [:]
        for one in named {
            if let other = places.updateValue(one.place, forKey: one.name) {
                conflicts.append(
                    Conflict(settings: [one.place, other]) { "two realms would be served as '\(one.name)'" })
            }
            guard one.ownsFile, let path = one.path else { continue }
            let resolved = (try? System.resolved(path)) ?? path
            if let other = owners.updateValue(one, forKey: resolved) {
                conflicts.append(
                    Conflict(settings: [one.place, other.place]) {
                        "the realms '\(other.name)' and '\(one.name)' have the same file"
                    }
                )
            }
        }
        for (index, path) in paths.enumerated() where !RealmFiles.isFolder(path) && RealmName(file: path) == nil {
            conflicts.append(Conflict(settings: [SettingPlace("files", [.index(index)])]) { "\(path): \(RealmName.rule)" })
        }
        let known = Set(places.keys).union(namesOfData.map { ByteText($0) })
        for name in backlinkNames.keys.sorted().texts where !known.contains(name) {
            conflicts.append(
                Conflict(settings: [SettingPlace("backlinkNames", [.name(name)])]) { "there is no realm '\(name)'" })
        }
        // With a data folder or an attach root, requests may add the realm.
        guard dataFolder == nil, attachRoots.isEmpty else { return conflicts }
        for text in conditionalClasses.sorted().texts {
            guard let name = ServerOptions.realm(ofClass: text), !known.contains(name) else { continue }
            conflicts.append(Conflict(settings: [SettingPlace("requireIfMatch")]) { "there is no realm '\(name)'" })
        }
        return conflicts
    }

    /// The names of the realms in the data folder.
    private var namesOfData: [String] {
        guard let dataFolder, !backlinkNames.isEmpty else { return [] }
        var files = (try? RealmFiles.list(in: dataFolder)) ?? []
        if layout == .sharded {
            for name in (try? RealmFiles.names(in: dataFolder)) ?? [] where RealmFiles.isFolder("\(dataFolder)/\(name)") {
                files += (try? RealmFiles.list(in: "\(dataFolder)/\(name)")) ?? []
            }
        }
        return files.compactMap { RealmName(file: $0)?.text }
    }
}
