// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmFormats
package import RealmPlatform
package import RealmStorage

/// The options of one realm that hold for as long as it is served, wherever they are stated: in the configuration file, in an
/// attach request, or in the list of attached realms that a server keeps in its data folder.
package struct RealmSettings: Sendable {
    /// The mode of opening the file: for writing, for reading only, as a private copy, or as one that another program writes.
    /// With nil the file decides, which is read-only if it cannot be written.
    package var mode: Database.Mode?
    /// The interval of checks of a file that is followed; nil for the default.
    package var followInterval: Duration?
    /// The encryption key of the file; nil for a plain one.
    package var key: EncryptionKey?
    /// The names of linking objects.
    package var backlinkNames = BacklinkNames.none
    /// The number of live versions from which on writes are refused: `Int.max` for no limit, nil for the limit of the server.
    package var maximumVersions: Int?
    /// Whether a file of an older format may be upgraded where it is.
    package var upgradesInPlace = false
    /// The condition for rewriting the file without its free space as it is opened; nil for never.
    package var compaction: Database.Compaction?
    /// The condition for compacting the file while it is served; nil for never.
    package var autoCompaction: Database.Compaction?
    /// The number of copies before migrations to keep; nil for the setting of the server.
    package var keptCopyCount: Int?
    /// The classes whose objects may only be written by requests with a condition such as `If-Match`.
    package var conditionalClasses: Set<ByteText> = []
    /// The values of properties that creates leave out.
    package var defaults = ClassDefaults.none
    /// The classes that the realm shows; nil for all classes of the file.
    package var shownClasses: ShownClasses?
    /// The former versions that commits keep; nil for the setting of the server.
    package var retention: Retention?

    /// The names of the members that `init(_:at:)` reads.
    static let names = [
        "mode", "followInterval", "backlinkNames", "maxActiveVersions", "upgrade", "compactOnOpen", "autoCompact",
        "keepMigrationBackups",
        "requireIfMatch", "classes", "defaults", "undo",
    ]

    /// Makes the settings of a realm that states none.
    package init() {}

    /// Reads the settings from the members of an object; other members are left to the caller.
    ///
    /// Whether classes and properties exist is checked when the realm is open.
    ///
    /// - Parameters:
    ///   - object: The body of an attach request, or the entry of a realm in a file.
    ///   - place: The place of the object in the body or file.
    /// - Throws: `invalid_body` for a malformed member, and `conflicting_parameters` for members that have no meaning
    ///   together.
    init(_ object: JSONObject, at place: InputPlace = InputPlace()) throws(Problem) {
        let reader = SchemaReader(place: place)
        mode = try RealmSettings.mode(try reader.text(object, "mode", place), place)
        followInterval = try RealmSettings.interval(object["followInterval"], place.inside("followInterval"))
        if let names = object["backlinkNames"] {
            do throws(Problem) {
                backlinkNames = try BacklinkNames(names)
            } catch {
                throw error.with("pointer", place.inside("backlinkNames").pointer)
            }
        }
        maximumVersions = try RealmSettings.versions(object, at: place)
        upgradesInPlace = try reader.choice(object, "upgrade", among: ["in-place"], at: place) != nil
        compaction = try RealmSettings.compaction(object, "compactOnOpen", maximumUsedRatio: 1, at: place)
        autoCompaction = try RealmSettings.compaction(object, "autoCompact", maximumUsedRatio: 0.5, at: place)
        keptCopyCount = try RealmSettings.number(object, "keepMigrationBackups", 0...1000, at: place)
        conditionalClasses = try RealmSettings.classes(object["requireIfMatch"], place.inside("requireIfMatch"))
        if let json = object["defaults"] { defaults = try ClassDefaults(json, at: place.inside("defaults")) }
        shownClasses = try reader.classNames(object["classes"], place.inside("classes")).map { ShownClasses($0) }
        retention = try object["undo"].map { json throws(Problem) in try Retention(json, at: place.inside("undo")) }
        if let (member, reason) = conflict {
            throw Problem(.conflictingParameters, reason).with("pointer", place.inside(member).pointer)
        }
    }

    /// The member that cannot be combined with the mode, and the reason as a sentence; nil when all members fit. This is the one
    /// rule for requests, configuration files and realms of earlier servers.
    private var conflict: (member: String, reason: String)? {
        if upgradesInPlace, mode ?? .readWrite != .readWrite {
            return ("upgrade", "only a file of the mode rw is upgraded in place")
        }
        if followInterval != nil, mode != .follow { return ("followInterval", "only a file of the mode follow is looked at") }
        guard mode == .readOnly || mode == .follow else { return nil }
        if retention != nil { return ("undo", "a read-only file has no commits that keep versions") }
        if compaction != nil { return ("compactOnOpen", "a read-only file is not compacted") }
        return autoCompaction == nil ? nil : ("autoCompact", "a read-only file is not compacted")
    }

    /// The mode of that name; nil without one. Throws `invalid_body` for an unknown one.
    private static func mode(_ text: String?, _ place: InputPlace) throws(Problem) -> Database.Mode? {
        guard let text else { return nil }
        guard let mode = Database.Mode(rawValue: text) else {
            throw Problem(.invalidBody, "'mode' must be one of: rw, ro, copy, follow").with(
                "pointer", place.inside("mode").pointer)
        }
        return mode
    }

    /// Reads the interval of checks of a followed file; nil when the member is absent.
    private static func interval(_ value: JSONValue?, _ place: InputPlace) throws(Problem) -> Duration? {
        guard let value else { return nil }
        guard let interval = Quantity.duration(value), intervals.contains(interval) else {
            throw SchemaReader(place: place).malformed("'followInterval' must be a time from 10ms to 1h, such as 500ms", place)
        }
        return interval
    }

    /// The permitted intervals of checks of a followed file.
    private static let intervals = Duration.milliseconds(10)...Duration.seconds(3600)

    /// Reads a whole number; nil when the member is absent.
    private static func number(
        _ object: JSONObject, _ name: String, _ range: ClosedRange<Int>, at place: InputPlace
    ) throws(Problem) -> Int? {
        guard let value = object[name] else { return nil }
        guard case .integer(let number) = value, let number = Int(exactly: number), range.contains(number) else {
            let bounds =
                range.upperBound == .max ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            throw SchemaReader(place: place).malformed("'\(name)' must be a whole number \(bounds)", place.inside(name))
        }
        return number
    }

    /// Reads `maxActiveVersions`; nil when it is absent or 0, which set no limit.
    private static func versions(_ object: JSONObject, at place: InputPlace) throws(Problem) -> Int? {
        guard let number = try number(object, "maxActiveVersions", 0...Int.max, at: place), number != 0 else { return nil }
        guard number >= 2 else {
            throw SchemaReader(place: place).malformed(
                "'maxActiveVersions' is at least 2, since a write has the version before it; 0 sets no limit",
                place.inside("maxActiveVersions"))
        }
        return number
    }

    /// Reads the conditions of a compaction; nil when the member is absent.
    private static func compaction(
        _ object: JSONObject, _ name: String, maximumUsedRatio: Double, at place: InputPlace
    ) throws(Problem) -> Database.Compaction? {
        guard let options = object[name] else { return nil }
        let place = place.inside(name)
        let reader = SchemaReader(place: place)
        let members = try reader.members(options, ["minTotalBytes", "maxUsedRatio"], place)
        var compaction = Database.Compaction(minimumTotalBytes: 0, maximumUsedRatio: maximumUsedRatio)
        if let value = members["minTotalBytes"] {
            guard let bytes = Quantity.bytes(value) else {
                throw reader.malformed(
                    "'minTotalBytes' must be a number of bytes, such as 1000000 or 64MiB", place.inside("minTotalBytes"))
            }
            compaction.minimumTotalBytes = bytes
        }
        if let value = members["maxUsedRatio"] {
            guard let ratio = RealmSettings.ratio(value), (0...1).contains(ratio) else {
                throw reader.malformed("'maxUsedRatio' must be a number from 0 to 1", place.inside("maxUsedRatio"))
            }
            compaction.maximumUsedRatio = ratio
        }
        return compaction
    }

    /// Returns the number of a JSON value as a floating-point number; nil when it is no number.
    private static func ratio(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): return Double(number)
        case .real(let number): return number
        default: return nil
        }
    }

    private static func classes(_ value: JSONValue?, _ place: InputPlace) throws(Problem) -> Set<ByteText> {
        guard let value else { return [] }
        let malformed = SchemaReader(place: place).malformed("expected a list of names of classes", place)
        guard let list = value.array else { throw malformed }
        var names: Set<ByteText> = []
        for one in list {
            guard let name = one.string else { throw malformed }
            names.insert(name)
        }
        return names
    }

    /// Returns the options to open the realm with.
    ///
    /// - Parameter base: The options of the server. Those of the realm replace them where it has
    ///   any.
    func adding(to base: Database.OpenOptions) -> Database.OpenOptions {
        var options = base
        options.key = key
        options.mode = mode
        options.followInterval = followInterval
        if let keptCopyCount { options.keptCopyCount = keptCopyCount }
        options.backlinkNames = backlinkNames
        if let maximumVersions { options.maximumVersionCount = maximumVersions }
        if let retention { options.retention = retention }
        options.compaction = compaction
        options.autoCompaction = autoCompaction
        options.conditionalClasses = conditionalClasses
        options.shownClasses = shownClasses
        options.defaults = defaults
        if upgradesInPlace {
            options.mode = .readWrite
            options.upgradesInPlace = true
        }
        return options
    }
}
