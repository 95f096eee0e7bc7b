// SPDX-License-Identifier: Apache-2.0

/// A text that is compared, hashed and ordered by its UTF-8 bytes: the key of every dictionary and set of texts.
///
/// A `String` in its place would be found under every canonically equal text.
@usableFromInline package struct ByteText: Sendable, Hashable, Comparable, ExpressibleByStringLiteral, CustomStringConvertible {
    @usableFromInline package let text: String

    /// Makes a key of a text.
    @inlinable package init(_ text: some StringProtocol) { self.text = String(text) }

    /// Makes a key of a constant.
    @usableFromInline package init(stringLiteral text: String) { self.text = text }

    @usableFromInline package var description: String { text }

    /// Returns whether two texts have the same bytes.
    @usableFromInline package static func == (left: ByteText, right: ByteText) -> Bool { left.text == right.text }

    /// Returns whether the bytes of a text are before those of another.
    @usableFromInline package static func < (left: ByteText, right: ByteText) -> Bool { left.text < right.text }

    @usableFromInline package func hash(into hasher: inout Hasher) {
        let isHashed: Void? = unsafe text.utf8.withContiguousStorageIfAvailable {
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isHashed == nil { text.utf8.forEach { hasher.combine($0) } }
        // No byte of UTF-8, so that a text of two keys in a row is not that of one.
        hasher.combine(0xff as UInt8)
    }
}

extension Dictionary where Key == ByteText {
    /// Makes a dictionary of texts that differ, with a value each.
    @inlinable package init(texts pairs: some Sequence<(String, Value)>) {
        self.init(uniqueKeysWithValues: pairs.lazy.map { (ByteText($0), $1) })
    }

    /// Makes a dictionary of texts with a value each, of which `combine` makes one for those that are equal.
    @inlinable package init(texts pairs: some Sequence<(String, Value)>, uniquingKeysWith combine: (Value, Value) throws -> Value)
        rethrows
    {
        try self.init(pairs.lazy.map { (ByteText($0), $1) }, uniquingKeysWith: combine)
    }

    /// The value of a text; nil for none.
    @inlinable package subscript(text: String) -> Value? {
        get { self[ByteText(text)] }
        _modify { yield &self[ByteText(text)] }
    }

    @inlinable package subscript(text: String, default value: @autoclosure () -> Value) -> Value {
        get { self[ByteText(text), default: value()] }
        _modify { yield &self[ByteText(text), default: value()] }
    }

    /// Gives a text a value and returns the one before; nil for none.
    @inlinable @discardableResult package mutating func updateValue(_ value: Value, forKey text: String) -> Value? {
        updateValue(value, forKey: ByteText(text))
    }

    /// Removes the value of a text and returns it; nil for none.
    @inlinable @discardableResult package mutating func removeValue(forKey text: String) -> Value? {
        removeValue(forKey: ByteText(text))
    }
}

extension Collection where Element == ByteText {
    /// The texts, in the same order.
    @inlinable package var texts: [String] { map(\.text) }
}

extension Set where Element == ByteText {
    @inlinable package init(texts: some Sequence<String>) { self.init(texts.lazy.map { ByteText($0) }) }

    @inlinable package func contains(_ text: String) -> Bool { contains(ByteText(text)) }

    /// Adds a text and returns whether it was new.
    @inlinable @discardableResult package mutating func insert(_ text: String) -> (inserted: Bool, memberAfterInsert: ByteText) {
        insert(ByteText(text))
    }

    /// Removes a text and returns it; nil when the set did not have it.
    @inlinable @discardableResult package mutating func remove(_ text: String) -> ByteText? { remove(ByteText(text)) }

    /// Adds texts.
    package mutating func formUnion(_ texts: some Sequence<String>) { for text in texts { insert(text) } }
}
