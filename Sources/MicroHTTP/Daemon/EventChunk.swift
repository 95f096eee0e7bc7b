// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds what sockets need
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Memory of a thread that sends events: one chunk of a chunked body, with its frame.
///
/// It belongs to one thread.
package final class EventChunk {
    /// The greatest number of bytes of content in a chunk.
    static let contentBytes = 8 << 10
    /// The greatest length of the text before the content: four digits, and the end of the line.
    private static let headBytes = 6

    /// The frame and the content.
    private var bytes = [UInt8](repeating: 0, count: headBytes + contentBytes + 2)
    private var range = 0..<0

    /// Fills the chunk.
    ///
    /// - Parameter write: Writes content to a buffer of the given size, and returns the number of bytes and whether they were the
    ///   last.
    /// - Returns: The result of `write`.
    func fill(_ write: (UnsafeMutablePointer<CChar>, Int) -> (Int, Bool)) -> (Int, Bool) {
        let result = unsafe bytes.withUnsafeMutableBytes { bytes -> (Int, Bool) in
            guard let base = bytes.baseAddress else { return (0, false) }
            let start = unsafe (base + EventChunk.headBytes).assumingMemoryBound(to: CChar.self)
            return unsafe write(start, EventChunk.contentBytes)
        }
        frame(result.0)
        return result
    }

    /// Writes the frame before and after the content.
    private func frame(_ count: Int) {
        let end = EventChunk.headBytes + count
        for place in [EventChunk.headBytes - 2, end] {
            bytes[place] = UInt8(ascii: "\r")
            bytes[place + 1] = UInt8(ascii: "\n")
        }
        var start = EventChunk.headBytes - 2
        var rest = count
        while rest > 0 {
            start -= 1
            let digit = UInt8(rest & 15)
            bytes[start] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            rest >>= 4
        }
        range = start..<(end + 2)
    }

    /// Sends the chunk as far as the socket takes it, without waiting.
    ///
    /// - Parameter socket: A connected socket.
    /// - Returns: The bytes that are left to be sent, which are none when the socket took everything; nil when the
    ///   connection is broken.
    func send(on socket: Int32) -> ArraySlice<UInt8>? {
        EventChunk.send(bytes[range], on: socket)
    }

    /// Sends bytes as far as a socket takes them, without waiting.
    ///
    /// - Returns: The bytes that are left; nil when the connection is broken.
    static func send(_ bytes: ArraySlice<UInt8>, on socket: Int32) -> ArraySlice<UInt8>? {
        while true {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            if count >= 0 { return bytes.dropFirst(count) }
            switch errno {
            case EINTR: continue
            // Without memory for it the kernel takes it later, too.
            case EAGAIN, ENOBUFS, ENOMEM: return bytes
            default: return nil
            }
        }
    }
}
