// SPDX-License-Identifier: Apache-2.0

internal import RealmLegacy
package import RealmPlatform
package import RealmStorage

/// Options that name classes and properties, which the file has to have.
extension Database.OpenOptions {
    /// Whether any option names classes or properties.
    package var namesSchema: Bool {
        backlinkNames != .none || !conditionalClasses.isEmpty || shownClasses != nil || !defaults.byClass.isEmpty
    }

    /// Finds a class that should be shown and that does not exist.
    ///
    /// - Parameter snapshot: The version of the realm whose schema counts.
    /// - Returns: The member that names it, as steps of a path, and the reason as a sentence; nil when all exist.
    package func unknownClass(in snapshot: Snapshot) -> (member: InputPath, reason: String)? {
        guard let shownClasses, let position = shownClasses.unknown(in: snapshot) else { return nil }
        return (
            InputPath([.name("classes"), .index(position)]), "there is no class '\(shownClasses.names[position])'"
        )
    }

    /// Finds what does not fit the schema of the realm: a class or property that does not exist, or a value of another type.
    ///
    /// - Parameter snapshot: The version of the realm whose schema counts.
    /// - Returns: The member that does not fit, as steps of a path, and the reason as a sentence; nil when all fit.
    package func defect(in snapshot: Snapshot) -> (member: InputPath, reason: String)? {
        if let defect = unknownClass(in: snapshot) { return defect }
        if let reason = backlinkNames.defect(in: snapshot) { return (InputPath([.name("backlinkNames")]), reason) }
        if let defect = defaults.defect(in: snapshot) {
            let names = ["defaults", defect.className] + [defect.property].compactMap { $0 }
            return (InputPath(names.map { .name($0) }), defect.reason)
        }
        for name in conditionalClasses.sorted().texts where snapshot.classTable(named: name) == nil {
            return (InputPath([.name("requireIfMatch")]), "there is no class '\(name)'")
        }
        return nil
    }
}

extension Database {
    /// Returns the shape for reading rows of a class; nil for a missing or embedded class, and for one whose new objects get
    /// default values.
    ///
    /// - Parameters:
    ///   - naming: How members refer to properties.
    package func rowShape(of className: String, _ naming: MemberNaming) -> RowShape? {
        guard defaults.byClass[className] == nil, let table = current.snapshot.classTable(named: className),
            table.kind != .embedded
        else { return nil }
        return RowShape(table, named: className, naming)
    }

    /// Checks that a file has the classes and properties that options name, before it is locked, upgraded or compacted.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - options: How it will be opened.
    /// - Throws: `StorageError` when it does not, or when the file cannot be read.
    static func requireNames(_ path: String, _ options: OpenOptions) throws(StorageError) {
        guard options.requiresNames, options.namesSchema else { return }
        let place = options.isExactPath ? path : try System.resolved(path)
        try options.requireNames(in: try schema(of: place, options))
    }

    /// Returns a version with the schema of a file. That of a file of formats 2 to 9 may have no objects, so that nothing is converted
    /// for options that do not fit.
    private static func schema(of place: String, _ options: OpenOptions) throws(StorageError) -> Snapshot {
        guard let old = try LegacyFile.open(path: place, key: options.key, isExact: true, countsRows: false) else {
            return try readable(place, options).snapshot
        }
        // The opening compares the file with its digest.
        if let kept = try? ConvertedFile.keptSnapshot(of: old, key: options.key) { return kept }
        do throws(StorageError) {
            return try LegacyFile(old.file, countsRows: true).schema(options.control)
        } catch {
            // A conversion tries again when another program writes to the file meanwhile.
            guard (try? old.file.witness?.checkFile()) == nil else { throw error }
            return try readable(place, options).snapshot
        }
    }
}

extension Database.OpenOptions {
    /// Checks that a version has what the options name.
    ///
    /// - Throws: The refusal with the member and the reason.
    package func requireNames(in snapshot: Snapshot) throws(StorageError) {
        guard let (member, reason) = defect(in: snapshot) else { return }
        throw .refused(.unfittingOptions("'\(member.description.dropFirst())' does not fit the file: \(reason)"))
    }
}
