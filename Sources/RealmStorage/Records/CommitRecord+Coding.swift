// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Records as bytes, without what ties them to the records before.
///
/// | bytes | field |
/// |---|---|
/// | 8, 8 | version, version before |
/// | 8 | time |
/// | 8 | horizon |
/// | 8, 8 | logical and physical size |
/// | 8 | top ref |
/// | 1, 1 | the selecting byte before and after |
/// | 1 | flags: 1 without bytes, 2 with notes |
/// | 4 | number of extents |
/// | 16 each | offset and length of each extent |
/// | | the bytes of all extents |
/// | | the notes, if there are any |
extension CommitRecord {
    /// The bits of the flags.
    private enum Flag {
        static let withoutBytes: UInt8 = 1
        static let withNotes: UInt8 = 2
    }

    func write(to writer: inout RecordWriter) {
        for number in [version, previousVersion, UInt64(bitPattern: time), horizon] { writer.long(number) }
        for size in [logicalSize, physicalSize] { writer.long(UInt64(size)) }
        writer.long(topRef.rawValue)
        writer.byte(flip.old)
        writer.byte(flip.new)
        writer.byte((isWithoutBytes ? Flag.withoutBytes : 0) | (hasNotes ? Flag.withNotes : 0))
        writer.word(UInt32(extents.count))
        for extent in extents {
            writer.long(UInt64(extent.offset))
            writer.long(UInt64(extent.bytes.count))
        }
        for extent in extents { writer.raw(extent.bytes) }
        if hasNotes { notes.write(to: &writer) }
    }

    /// Reads a record.
    ///
    /// - Throws: `.corrupt` for bytes that are no record.
    init(from reader: inout RecordReader) throws(StorageError) {
        version = try reader.long()
        previousVersion = try reader.long()
        time = Int64(bitPattern: try reader.long())
        horizon = try reader.long()
        logicalSize = try reader.size()
        physicalSize = try reader.size()
        topRef = Ref(try reader.long())
        flip = Flip(old: try reader.byte(), new: try reader.byte())
        let flags = try reader.byte()
        guard flags & ~(Flag.withoutBytes | Flag.withNotes) == 0 else { throw RecordReader.damaged("it has unknown flags") }
        isWithoutBytes = flags & Flag.withoutBytes != 0
        hasNotes = flags & Flag.withNotes != 0
        let count = Int(try reader.word())
        guard count <= reader.rest / 16 else { throw RecordReader.cut }
        var places: [(offset: Int, count: Int)] = []
        places.reserveCapacity(count)
        for _ in 0..<count { places.append((try reader.size(), try reader.size())) }
        var extents: [Extent] = []
        extents.reserveCapacity(count)
        for place in places { extents.append(Extent(offset: place.offset, bytes: Array(try reader.raw(place.count)))) }
        self.extents = extents
        notes = hasNotes ? try CommitNotes(from: &reader) : CommitNotes()
    }
}
