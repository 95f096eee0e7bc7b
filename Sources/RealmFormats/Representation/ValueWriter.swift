// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Writes scalar values in JSON or Extended JSON.
///
/// The declared type of a property decides the form. Inside Mixed, where JSON cannot distinguish types, wrappers do.
/// `ObjectEncoder` has one for each response, and writes links and collections itself.
package struct ValueWriter: Sendable {
    /// The client's choice of syntax and integers, which every value follows.
    package let representation: Representation
    /// The losses of the values written so far in this representation.
    package var notes = RepresentationNotes()
    /// The text of one decimal; kept so that the next one needs no new memory.
    private var scratch: [UInt8] = []

    /// Creates a writer that has written nothing.
    ///
    /// - Parameter representation: The client's choice of syntax and integers.
    package init(_ representation: Representation) { self.representation = representation }

    /// The integers that a double represents exactly, together with their neighbours: ±(2^53 − 1).
    private static let safeIntegers: ClosedRange<Int64> = -9_007_199_254_740_991...9_007_199_254_740_991

    /// Writes a value of a property with a declared type. Links and collections are written as null here.
    @inline(__always) package mutating func write(_ value: Value, to writer: inout JSONWriter) {
        if case .json = representation.format { plain(value, &writer) } else { extended(value, isMixed: false, &writer) }
    }

    /// Writes a value inside Mixed.
    ///
    /// Null, booleans, integers, strings and finite doubles are plain; everything else has a wrapper that states its type.
    package mutating func writeMixed(_ value: Value, to writer: inout JSONWriter) {
        guard case .json = representation.format else { return extended(value, isMixed: true, &writer) }
        switch value {
        case .null, .bool, .string, .int: plain(value, &writer)
        case .double(let number) where number.isFinite: writer.double(number)
        default: extended(value, isMixed: true, &writer)
        }
    }

    // MARK: - JSON

    /// Writes a value in the plain form of its declared type.
    @inline(__always) private mutating func plain(_ value: Value, _ writer: inout JSONWriter) {
        switch value {
        case .null, .list, .dictionary, .link: writer.null()
        case .bool(let flag): writer.bool(flag)
        case .int(let number): int(number, &writer)
        case .float(let number): writer.float(number)
        case .double(let number): writer.double(number)
        case .string(let text): string(text, &writer)
        case .binary(let data): base64(data, &writer)
        case .timestamp(let date): if !rfc3339(date, &writer) { instant(date, &writer) }
        case .decimal(let number): decimal(number, &writer)
        case .objectID(let id): quoted(&writer) { $0.append(id) }
        case .uuid(let id): quoted(&writer) { $0.append(id) }
        }
    }

    /// Writes an integer, and notes it when clients with doubles cannot read it exactly.
    @inline(__always) private mutating func int(_ number: Int64, _ writer: inout JSONWriter) {
        if representation.intsAsStrings { return quoted(&writer) { $0.append(decimal: number) } }
        if !ValueWriter.safeIntegers.contains(number) { notes.hasUnsafeIntegers = true }
        writer.int(number)
    }

    /// Writes a text. One that is not valid UTF-8 is written as `{"$bytes":…}` with its bytes, so that nothing is replaced.
    private func string(_ text: ByteView, _ writer: inout JSONWriter) {
        guard !writer.string(text) else { return }
        writer.beginObject()
        writer.key("$bytes")
        base64(text, &writer)
        writer.endObject()
    }

    /// Writes data as a base64 string with padding.
    private func base64(_ data: ByteView, _ writer: inout JSONWriter) { quoted(&writer) { $0.append(base64: data) } }

    /// Writes a date in the form of RFC 3339; returns false without writing for a year that it does not have.
    private func rfc3339(_ date: Timestamp, _ writer: inout JSONWriter) -> Bool {
        writer.quoted(room: DateWriter.maximumByteCount) { room in
            let byteCount = DateWriter.write(date, to: room)
            return byteCount > 0 ? byteCount : nil
        }
    }

    /// Writes a decimal as a string with its exponent and trailing zeros.
    private mutating func decimal(_ number: Decimal128, _ writer: inout JSONWriter) {
        if writer.quoted(room: Decimal128.shortByteCount, { number.writeShort(to: $0) }) { return }
        scratch.removeAll(keepingCapacity: true)
        number.append(to: &scratch)
        writer.plainString(scratch)
    }

    /// Writes a string whose characters `body` appends; they must not need escapes.
    @inline(__always) private func quoted(_ writer: inout JSONWriter, _ body: (OutputBuffer) -> Void) {
        writer.value { buffer in
            buffer.append(UInt8(ascii: "\""))
            body(buffer)
            buffer.append(UInt8(ascii: "\""))
        }
    }

    /// Writes a date outside the years 0001 to 9999, as seconds since 1970 and nanoseconds.
    private func instant(_ date: Timestamp, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("$instant")
        writer.beginObject()
        writer.member("seconds", text: String(date.seconds))
        writer.member("nanoseconds", int: date.nanoseconds)
        writer.endObject()
        writer.endObject()
    }

    // MARK: - Extended JSON

    /// Whether the representation is relaxed Extended JSON.
    private var isRelaxed: Bool { representation.format == .ejson(isRelaxed: true) }

    /// Writes a value in Extended JSON, or in a wrapper inside Mixed.
    ///
    /// - Parameters:
    ///   - isMixed: Whether the value is inside Mixed.
    private mutating func extended(_ value: Value, isMixed: Bool, _ writer: inout JSONWriter) {
        switch value {
        case .null, .list, .dictionary, .link: writer.null()
        case .bool(let flag): writer.bool(flag)
        case .string(let text): string(text, &writer)
        case .int(let number):
            if isRelaxed { return int(number, &writer) }
            wrapped("$numberLong", &writer) { $0.append(decimal: number) }
        case .double(let number): double(number, &writer)
        case .float(let number): float(number, isMixed, &writer)
        case .decimal(let number):
            writer.beginObject()
            writer.key("$numberDecimal")
            decimal(number, &writer)
            writer.endObject()
        case .binary(let data): binary("00", &writer) { $0.append(base64: data) }
        case .timestamp(let date): self.date(date, isMixed, &writer)
        case .objectID(let id): wrapped("$oid", &writer) { $0.append(id) }
        case .uuid(let id):
            var bytes: [UInt8] = []
            for word in [id.first, id.last] {
                for step in (0..<8).reversed() { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * step))) }
            }
            let storage = ByteStorage(bytes)
            binary("04", &writer) { $0.append(base64: storage.view) }
        }
    }

    /// Writes an object with one member, whose value is a string.
    private func wrapped(_ name: StaticString, _ writer: inout JSONWriter, _ body: (OutputBuffer) -> Void) {
        writer.beginObject()
        writer.key(name)
        quoted(&writer, body)
        writer.endObject()
    }

    /// Writes a double in its wrapper. In relaxed form a finite one is plain.
    private func double(_ number: Double, _ writer: inout JSONWriter) {
        if isRelaxed, number.isFinite { return writer.double(number) }
        writer.beginObject()
        writer.key("$numberDouble")
        if number.isFinite { quoted(&writer) { _ = $0.append(shortest: number) } } else { writer.double(number) }
        writer.endObject()
    }

    /// Writes a float.
    ///
    /// Extended JSON has no floats: a property is written as the double that its text reads as, and
    /// Mixed has the wrapper `$numberFloat`.
    private func float(_ number: Float, _ isMixed: Bool, _ writer: inout JSONWriter) {
        if !isMixed, isRelaxed, number.isFinite { return writer.float(number) }
        writer.beginObject()
        if isMixed { writer.key("$numberFloat") } else { writer.key("$numberDouble") }
        if number.isFinite { quoted(&writer) { _ = $0.append(shortest: number) } } else { writer.float(number) }
        writer.endObject()
    }

    /// Writes data in the wrapper `$binary`.
    ///
    /// - Parameters:
    ///   - subtype: The subtype as two hexadecimal digits: `00` for data, `04` for a UUID.
    ///   - body: Appends the base64 of the data.
    private func binary(_ subtype: StaticString, _ writer: inout JSONWriter, _ body: (OutputBuffer) -> Void) {
        writer.beginObject()
        writer.key("$binary")
        writer.beginObject()
        writer.key("base64")
        quoted(&writer, body)
        writer.key("subType")
        quoted(&writer) { $0.append(subtype) }
        writer.endObject()
        writer.endObject()
    }

    /// Writes a date in its wrapper.
    ///
    /// In JSON a date inside Mixed keeps its nanoseconds. Extended JSON has milliseconds; truncation is noted.
    private mutating func date(_ date: Timestamp, _ isMixed: Bool, _ writer: inout JSONWriter) {
        if case .json = representation.format { return dateInMixed(date, &writer) }
        guard let milliseconds = date.milliseconds else { return instant(date, &writer) }
        if date.nanoseconds % 1_000_000 != 0 { notes.hasLossyDates = true }
        writer.beginObject()
        writer.key("$date")
        let rounded = Timestamp(flooringMilliseconds: milliseconds)
        if isRelaxed, rounded.seconds >= 0, rfc3339(rounded, &writer) {
            writer.endObject()
            return
        }
        wrapped("$numberLong", &writer) { $0.append(decimal: milliseconds) }
        writer.endObject()
    }

    /// Writes a date inside Mixed as JSON, with all its nanoseconds.
    private func dateInMixed(_ date: Timestamp, _ writer: inout JSONWriter) {
        guard DateWriter.canWrite(date) else { return instant(date, &writer) }
        writer.beginObject()
        writer.key("$date")
        _ = rfc3339(date, &writer)
        writer.endObject()
    }
}

extension Timestamp {
    /// The milliseconds since 1970, rounded down; nil when 64 bits are not enough.
    fileprivate var milliseconds: Int64? {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let part = Int64(nanoseconds) / 1_000_000 - (nanoseconds % 1_000_000 < 0 ? 1 : 0)
        let (sum, overflowsToo) = product.addingReportingOverflow(part)
        return overflow || overflowsToo ? nil : sum
    }

    /// Creates the date of some milliseconds since 1970, with both parts of the same sign.
    fileprivate init(flooringMilliseconds milliseconds: Int64) {
        self.init(seconds: milliseconds / 1000, nanoseconds: Int32(milliseconds % 1000) * 1_000_000)
    }
}
