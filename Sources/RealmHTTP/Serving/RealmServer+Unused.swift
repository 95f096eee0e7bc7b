// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Stated options that the server does not use, most often because a name is misspelt.
extension RealmServer {
    /// Reports keys for realms that are not served, and unknown variables of the environment.
    ///
    /// A realm may be attached later, so none of it stops the start.
    ///
    /// - Parameters:
    ///   - catalog: The realms that were found at the start.
    ///   - report: Called with a sentence about each.
    static func reportUnused(_ options: ServerOptions, _ catalog: Catalog, _ report: (String) -> Void) {
        let names = catalog.page(after: nil, limit: 1000).realms.map(\.name)
        for name in options.keys.keys.sorted().texts where catalog[name] == nil {
            report("the key for '\(name.truncated)' is not used: no realm has this name\(Suggestion.hint(for: name, in: names))")
        }
        let prefix = ServerOptions.environmentPrefix + "KEY_"
        let variables = names.map { prefix + $0.map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined().uppercased() }
        for name in options.environmentNames where name != FirstKey.variable {
            // The names of realms are found in any letter case, but only one of them is read.
            if name.hasPrefix(prefix) {
                guard !names.contains(where: { options.isKeyVariable(name, of: $0) }) else { continue }
                report("\(name.truncated) is not used: no realm has this name\(Suggestion.hint(for: name, in: variables))")
            } else {
                let hint = Suggestion.hint(for: name, in: [FirstKey.variable, prefix + "NAME"])
                report("the environment's \(name.truncated) is not known\(hint)")
            }
        }
    }
}

extension ServerOptions {
    /// Whether a variable of the environment is the one that the key of a realm is read from.
    fileprivate func isKeyVariable(_ variable: String, of realm: String) -> Bool {
        let name = String(realm.map { $0 == "." || $0 == "-" ? "_" : $0 })
        return variable == ServerOptions.environmentPrefix + "KEY_" + name
            || variable == ServerOptions.environmentPrefix + "KEY_" + name.uppercased()
    }
}
