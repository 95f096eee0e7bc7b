// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// The option `undo`: which former versions a realm keeps.
extension Retention {
    /// The most versions that can be kept.
    private static let mostVersions = 10_000
    /// The versions that are kept when the option does not say how many.
    private static let usualVersions = 100
    private static let hours: ClosedRange<Double> = 0.01...87_600

    /// Reads the option: an object, or a text such as `100`, `100,24h` or `100,24h,10%`, as the command line has it.
    ///
    /// - Throws: `invalid_body` for anything else.
    package init(_ json: JSONValue, at place: InputPlace) throws(Problem) {
        if json.object != nil {
            try self.init(members: json, at: place)
        } else {
            let parts = json.string?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            try self.init(parts: parts ?? Quantity.whole(json).map { [String($0)] } ?? [], at: place)
        }
    }

    private init(parts: [String], at place: InputPlace) throws(Problem) {
        let malformed = SchemaReader(place: place).malformed(
            "expected a number of versions up to \(Retention.mostVersions), perhaps with hours and a share of the file, such as 100 or 100,24h,10%",
            place)
        guard let count = parts.first.flatMap({ Int($0) }), (0...Retention.mostVersions).contains(count), parts.count <= 3 else {
            throw malformed
        }
        self.init(versionCount: count)
        for part in parts.dropFirst() {
            if part.utf8.last == UInt8(ascii: "h"), let hours = Double(part.dropLast()), Retention.hours.contains(hours) {
                seconds = hours * 3600
            } else if let share = Retention.share(part) {
                self.share = share
            } else {
                throw malformed
            }
        }
    }

    private init(members json: JSONValue, at place: InputPlace) throws(Problem) {
        let reader = SchemaReader(place: place)
        let members = try reader.members(json, ["versions", "hours", "atMost"], place)
        self.init(versionCount: Retention.usualVersions)
        if let value = members["versions"] {
            guard let count = Quantity.whole(value), (0...Retention.mostVersions).contains(count) else {
                throw reader.malformed(
                    "'versions' must be a whole number from 0 to \(Retention.mostVersions)", place.inside("versions"))
            }
            versionCount = count
        } else if members["hours"] != nil {
            versionCount = Retention.mostVersions
        }
        if let value = members["hours"] {
            guard let hours = Retention.number(value), Retention.hours.contains(hours) else {
                throw reader.malformed("'hours' must be a number from 0.01 to 87600", place.inside("hours"))
            }
            seconds = hours * 3600
        }
        if let value = members["atMost"] {
            guard let share = value.string.flatMap(Retention.share) else {
                throw reader.malformed(
                    "'atMost' must be a share of the file from 1% to 100%, such as 10%", place.inside("atMost"))
            }
            self.share = share
        }
    }

    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): return Double(number)
        case .real(let number): return number
        default: return nil
        }
    }

    /// Returns a share such as `10%` as a number from 0 to 1.
    private static func share(_ text: String) -> Double? {
        guard text.utf8.last == UInt8(ascii: "%"), let percent = Double(text.dropLast()), (1...100).contains(percent) else {
            return nil
        }
        return percent / 100
    }

    /// The share of the file as text.
    package var shareText: String {
        let percent = share * 100
        return (percent.rounded() == percent ? String(Int(percent)) : String(percent)) + "%"
    }

    /// The option as a configuration states it.
    package var json: JSONValue {
        guard keepsAny else { return .integer(0) }
        var members: [(String, JSONValue)] = [("versions", .integer(Int64(versionCount)))]
        if let seconds { members.append(("hours", .real(seconds / 3600))) }
        members.append(("atMost", .string(shareText)))
        return .object(JSONObject(members))
    }
}
