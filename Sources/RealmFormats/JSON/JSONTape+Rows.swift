// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Reads objects straight into rows, without making values of them first.
extension JSONTape {
    /// The result of parsing a text.
    enum RowOutcome {
        /// It is a row now.
        case added
        /// It is an object of another class.
        case belongs(to: String)
        /// It has to be read in another way.
        case refused
    }

    /// Adds the object that a text represents to rows, if it has plain values of properties only. Unless it was added, the rows are
    /// as they were.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - bounds: The limits that apply.
    ///   - needsClass: Whether the object has to state its class in `$meta`.
    ///   - rows: The rows of a class; nothing is added to nil.
    static func add(
        _ bytes: ArraySlice<UInt8>, _ bounds: JSONBounds, needsClass: Bool, to rows: inout ObjectRows?
    ) -> RowOutcome {
        // A `$meta` is one deeper.
        guard bounds.depth > 1 else { return .refused }
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe reading(bytes) { (tape: inout JSONTape) in
                tape.end <= bounds.values ? tape.object(needsClass, &rows) : .refused
            } ?? .refused
        }
    }

    /// Reads the elements of an array as rows of a class.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - bounds: The limits that apply.
    ///   - shape: The class.
    /// - Returns: The rows; nil when one of the elements is none, or the text is no array.
    package static func rows(
        _ bytes: [UInt8], _ bounds: JSONBounds, of shape: RowShape, valueLimit: Int
    ) -> ObjectRows? {
        guard bounds.depth > 2 else { return nil }
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe reading(bytes) { (tape: inout JSONTape) -> ObjectRows? in
                guard tape.end <= bounds.values, let count = tape.openArray() else { return nil }
                var rows: ObjectRows? = ObjectRows(shape, byteCount: bytes.count)
                guard count > 0, count <= valueLimit / max(1, shape.propertyCount) else { return nil }
                rows?.reserve(count)
                for _ in 0..<count { guard case .added = tape.object(false, &rows) else { return nil } }
                return rows
            } ?? nil
        }
    }

    /// Adds the object that is next to rows.
    private mutating func object(_ needsClass: Bool, _ rows: inout ObjectRows?) -> RowOutcome {
        guard let count = openObject(), rows?.beginRow() != nil else { return .refused }
        var className: String?
        for _ in 0..<count {
            let name = view()
            if let position = rows?.position(of: name) {
                guard addValue(to: &rows, at: position) else { return .refused }
            } else {
                guard className == nil, name.isMeta, let stated = meta() else { return .refused }
                className = stated
                if stated != rows?.shape.className { return .belongs(to: stated) }
            }
        }
        pass()
        guard !needsClass || className != nil, rows?.endRow() ?? false else { return .refused }
        return .added
    }

    /// Takes `$meta` of an object, and returns its class; nil when that is not stated, or when `$meta` has more than the class,
    /// an entity tag and a primary key.
    private mutating func meta() -> String? {
        guard let count = openObject() else { return nil }
        var stated: [ByteText: String] = [:]
        for _ in 0..<count {
            let name = view().string
            guard kind == UInt8(ascii: "\""), stated.updateValue(view().string, forKey: name) == nil else { return nil }
        }
        pass()
        let others = stated.keys.contains { $0 != "class" && $0 != "key" && $0 != "etag" }
        // Links to an object without a primary key have to be followed by its old key.
        return others || stated["key"]?.hasPrefix("@") ?? false ? nil : stated["class"]
    }

    /// Takes a plain value, and gives it to a property. Returns whether it is one of the property.
    private mutating func addValue(to rows: inout ObjectRows?, at position: Int) -> Bool {
        switch kind {
        case UInt8(ascii: "\""): return rows?.set(text: view(), at: position) ?? false
        case UInt8(ascii: "l"): return rows?.set(integer: Int64(bitPattern: longWord()), at: position) ?? false
        case UInt8(ascii: "d"): return rows?.set(real: Double(bitPattern: longWord()), at: position) ?? false
        case UInt8(ascii: "t"), UInt8(ascii: "f"):
            let flag = kind == UInt8(ascii: "t")
            pass()
            return rows?.set(flag: flag, at: position) ?? false
        case UInt8(ascii: "n"):
            pass()
            return rows?.setNull(at: position) ?? false
        default: return false
        }
    }
}

extension ByteView {
    /// The name of the member with facts about an object.
    private static let meta = Array("$meta".utf8)
    /// Whether a name is that of the member with facts about an object.
    fileprivate var isMeta: Bool { ByteView.withBytes(of: ByteView.meta) { self == $0 } }
}
