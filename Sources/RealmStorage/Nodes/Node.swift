// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A checked view of one node of the file.
///
/// A node is made by `NodeSpace.node(at:)` only, which proves that header and payload lie inside the file; after that every
/// element below `count` can be read without another check. Layout of the 8 header bytes:
///
/// | byte | content |
/// |---|---|
/// | 0–3 | checksum or capacity, ignored |
/// | 4 | flags: 7 inner, 6 has-refs, 5 context, 4:3 width type, 2:0 width code |
/// | 5–7 | element count, big endian |
///
/// The view borrows the memory of its `NodeSpace` and is valid while the snapshot that owns it is alive. Source:
/// docs/format.md, "Nodes".
///
/// `@unchecked Sendable`: the bytes of a node in a snapshot never change.
@safe package struct Node: @unchecked Sendable {
    /// The first byte of the payload.
    @usableFromInline let payload: UnsafeRawPointer
    /// The place of the node: its offset in the file, or a ref of a transaction's arena.
    package let ref: Ref
    /// The eight header bytes as one little-endian number.
    @usableFromInline let header: UInt64

    /// Makes a view of a node whose header and payload were checked to lie in memory that outlives the view.
    @inlinable init(payload: UnsafeRawPointer, ref: Ref, header: UInt64) {
        unsafe self.payload = unsafe payload
        self.ref = ref
        self.header = header
    }

    /// The meaning of the width in a header.
    package enum WidthType: Int, Sendable {
        /// Elements have `width` bits each.
        case bits = 0
        /// Elements have `width` bytes each.
        case multiply = 1
        /// Elements have one byte each, whatever the width is.
        case ignore = 2
    }

    /// The flags of the header; see `NodeLayout`.
    @inlinable var flags: UInt8 { UInt8(truncatingIfNeeded: header >> 32) }
    /// Whether this is an inner node of a tree.
    @inlinable package var isInner: Bool { flags & NodeLayout.innerFlag != 0 }
    /// Whether the elements are refs and tagged numbers.
    @inlinable package var hasRefs: Bool { flags & NodeLayout.refsFlag != 0 }
    /// Whether the context flag is set, whose meaning depends on the structure.
    @inlinable package var hasContext: Bool { flags & NodeLayout.contextFlag != 0 }
    /// The number of the width type; see `WidthType`.
    @inlinable package var widthType: Int { Int(flags >> 3) & 3 }
    /// The width, 0, 1, 2, 4, 8, 16, 32 or 64: bits per element, or bytes for width type "multiply".
    @inlinable package var width: Int { (1 << Int(flags & NodeLayout.widthCodeMask)) >> 1 }
    /// How many elements the node has, by its header.
    @inlinable package var count: Int { Node.count(ofHeader: header) }
    /// The size of the elements in bytes, without padding.
    @inlinable package var payloadByteCount: Int { NodeLayout.payloadByteCount(flags: flags, count: count) }
    /// The size of the whole node in bytes: header, payload and padding.
    @inlinable package var byteCount: Int { NodeLayout.byteCount(payload: payloadByteCount) }

    /// Returns the number of elements of a node with this header.
    @inlinable static func count(ofHeader header: UInt64) -> Int {
        Int(truncatingIfNeeded: header.byteSwapped & 0xff_ffff)
    }

    /// Returns the size in bytes of a node with this header: header, payload and padding.
    @inlinable static func byteCount(ofHeader header: UInt64) -> Int {
        NodeLayout.byteCount(flags: UInt8(truncatingIfNeeded: header >> 32), count: count(ofHeader: header))
    }

    /// The whole payload as bytes.
    @inlinable package var bytes: ByteView {
        unsafe ByteView(start: payload.assumingMemoryBound(to: UInt8.self), count: payloadByteCount)
    }

    /// Returns `byteCount` payload bytes from `offset` on, which the caller has checked against the payload.
    @inlinable func bytes(at offset: Int, byteCount: Int) -> ByteView {
        assert(offset >= 0 && byteCount >= 0 && offset + byteCount <= payloadByteCount)
        return unsafe ByteView(start: (payload + offset).assumingMemoryBound(to: UInt8.self), count: byteCount)
    }

    /// Returns element `index` of a bit-packed node; widths below 8 are unsigned, the others signed.
    ///
    /// The caller has checked that `index` is in `0..<count` and the width type is "bits".
    @inlinable @inline(__always) package func integer(_ index: Int) -> Int64 {
        assert(index >= 0 && index < count && widthType == 0)
        return unsafe PackedIntegers.load(payload, widthCode: Int(flags & NodeLayout.widthCodeMask), index: index)
    }

    /// Returns element `index` read as an unsigned number at every width, as key and offset arrays demand.
    @inlinable package func unsignedInteger(_ index: Int) -> UInt64 {
        let value = integer(index)
        switch width {
        case 8: return UInt64(UInt8(truncatingIfNeeded: value))
        case 16: return UInt64(UInt16(truncatingIfNeeded: value))
        case 32: return UInt64(UInt32(truncatingIfNeeded: value))
        default: return UInt64(bitPattern: value)
        }
    }

    /// Reads a little-endian number at a byte offset that the caller has checked against the payload; it need not be aligned.
    @inlinable package func load<Number: FixedWidthInteger>(byteOffset: Int, as type: Number.Type) -> Number {
        assert(byteOffset >= 0 && byteOffset + MemoryLayout<Number>.size <= payloadByteCount)
        return unsafe Number(littleEndian: payload.loadUnaligned(fromByteOffset: byteOffset, as: type))
    }

    /// Makes a `.corrupt` error that names this node.
    @usableFromInline @inline(never) package func corrupt(_ reason: String) -> StorageError { .corrupt(ref: ref, reason: reason) }
}

/// Reading of whole payloads, and of slots of nodes with refs.
extension Node {
    /// Copies the elements of a bit-packed node of 8 bits or more as 64-bit numbers to `target`, which must have room for them.
    func copyWords(to target: UnsafeMutableRawPointer) {
        let count = count
        switch flags & NodeLayout.widthCodeMask {
        case 4: unsafe widen(Int8.self, to: target, count)
        case 5: unsafe widen(Int16.self, to: target, count)
        case 6: unsafe widen(Int32.self, to: target, count)
        default: unsafe target.copyMemory(from: payload, byteCount: count * 8)
        }
    }

    /// Copies elements of one width as 64-bit numbers.
    @inline(__always)
    private func widen<Number: FixedWidthInteger>(_ type: Number.Type, to target: UnsafeMutableRawPointer, _ count: Int) {
        for index in 0..<count {
            let value = unsafe payload.loadUnaligned(fromByteOffset: index * MemoryLayout<Number>.size, as: type)
            unsafe target.storeBytes(of: Int64(Number(littleEndian: value)).littleEndian, toByteOffset: index * 8, as: Int64.self)
        }
    }

    /// Appends all elements of a bit-packed node to `list`.
    func appendIntegers(to list: inout [Int64]) {
        guard flags & NodeLayout.widthCodeMask == 7 else {
            for index in 0..<count { list.append(integer(index)) }
            return
        }
        // Payloads of committed nodes and of new ones lie at multiples of 8.
        unsafe list.append(contentsOf: UnsafeBufferPointer(start: payload.assumingMemoryBound(to: Int64.self), count: count))
    }

    /// Returns the packed integers of this node; throws `.corrupt` unless it is bit-packed.
    package func integers() throws(StorageError) -> PackedIntegers {
        guard widthType == 0 else { throw corrupt("expected packed integers, found whole bytes") }
        return unsafe PackedIntegers(payload: payload, widthCode: Int(flags & NodeLayout.widthCodeMask), count: count)
    }

    /// The contents of a slot of a node with refs.
    package enum Slot: Sendable, Equatable {
        /// The slot is zero, which means that there is nothing.
        case none
        /// The slot has the ref of a node.
        case ref(Ref)
        /// The slot has a number, which is given without its tag bit.
        case tagged(UInt64)
    }

    /// Returns slot `index` of a node with refs as it is stored: 0 for nothing, also past the end, an odd number for a
    /// tagged one, else a ref.
    ///
    /// - Throws: `.corrupt` for a node without refs.
    @inlinable @inline(__always) package func rawSlot(_ index: Int) throws(StorageError) -> UInt64 {
        guard hasRefs, widthType == 0 else { throw corrupt("expected a node with refs, found another kind of node") }
        return index < count ? UInt64(bitPattern: integer(index)) : 0
    }

    /// Returns the contents of slot `index` of a node with refs; missing trailing slots are `.none`.
    ///
    /// - Throws: `.corrupt` for a node without refs.
    @inline(__always) package func slot(_ index: Int) throws(StorageError) -> Slot {
        let raw = try rawSlot(index)
        if raw == 0 { return .none }
        return raw & 1 == 1 ? .tagged(raw >> 1) : .ref(Ref(raw))
    }

    /// Returns the ref in slot `index`, or `Ref.none`; throws `.corrupt` when it holds a number.
    /// `what` describes the slot in the message.
    @inlinable @inline(__always)
    package func optionalRef(_ index: Int, _ what: @autoclosure () -> String) throws(StorageError) -> Ref {
        let raw = try rawSlot(index)
        guard raw & 1 == 0 else { throw misfit(index, what(), "holds a number where a ref belongs") }
        return Ref(raw)
    }

    /// Returns the ref in slot `index`; throws `.corrupt` when there is none. `what` describes the slot in the message.
    @inline(__always)
    package func requiredRef(_ index: Int, _ what: @autoclosure () -> String) throws(StorageError) -> Ref {
        let ref = try optionalRef(index, what())
        guard !ref.isNone else { throw misfit(index, what(), "holds no ref") }
        return ref
    }

    /// Returns the number in slot `index`; a slot that is 0 or missing reads as 0. Throws `.corrupt` when it holds a ref.
    @inline(__always)
    package func number(_ index: Int, _ what: @autoclosure () -> String) throws(StorageError) -> UInt64 {
        let raw = try rawSlot(index)
        guard raw == 0 || raw & 1 == 1 else { throw misfit(index, what(), "holds a ref where a number belongs") }
        return raw >> 1
    }

    /// Makes the error for a slot that holds something else.
    @usableFromInline @inline(never) func misfit(_ index: Int, _ what: String, _ reason: String) -> StorageError {
        corrupt("\(what): slot \(index) \(reason)")
    }
}
