// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers make the system declarations used here visible
internal import Glibc
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The beginning of the kernel's `struct tcp_info`, up to `tcpi_bytes_received`. Linux only ever appends to that structure.
struct TCPInfoPrefix {
    /// The first eight bytes, with states and options; the very first is the state of the connection.
    var states: UInt64 = 0
    /// Pairs of 32-bit counters, some of which the computed properties below read.
    var counters: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    /// A rate that is not used here; it is declared because of its place.
    var pacingRate: UInt64 = 0
    /// A rate that is not used here; it is declared because of its place.
    var maximumPacingRate: UInt64 = 0
    /// The number of bytes that the other side has acknowledged since the connection was made.
    var bytesAcknowledged: UInt64 = 0
    /// The number of bytes received since the connection was made, whether the program has read them or not.
    var bytesReceived: UInt64 = 0

    /// Whether the other side has closed its sending direction: the state is TCP_CLOSE_WAIT.
    var isHalfClosed: Bool { states & 0xff == 8 }
    /// The milliseconds since bytes were last sent, including retransmissions (`tcpi_last_data_sent`, at byte 44).
    var millisecondsSinceSent: UInt32 { UInt32(truncatingIfNeeded: counters.4 >> 32) }
    /// The milliseconds since the other side last sent an acknowledgement, even of nothing new (`tcpi_last_ack_recv`, at byte
    /// 56).
    var millisecondsSinceAnswer: UInt32 { UInt32(truncatingIfNeeded: counters.6) }

    /// Asks the kernel for the state of a connection. This is a system call.
    ///
    /// - Parameter descriptor: A socket.
    /// - Returns: The state; nil if it is not a TCP connection, or the kernel knows fewer fields.
    static func read(_ descriptor: Int32) -> TCPInfoPrefix? {
        var info = TCPInfoPrefix()
        var length = socklen_t(MemoryLayout<TCPInfoPrefix>.size)
        let failure = unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length)
        return failure == 0 && length >= socklen_t(MemoryLayout<TCPInfoPrefix>.size) ? info : nil
    }
}
