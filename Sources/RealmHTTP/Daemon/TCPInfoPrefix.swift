// SPDX-License-Identifier: Apache-2.0

internal import CMicrohttpd  // its headers are where the compiler finds what sockets need
internal import Glibc
internal import RealmStorage
internal import Synchronization

/// The part of the kernel's `struct tcp_info` up to `tcpi_bytes_received`, whose layout Linux keeps stable.
struct TCPInfoPrefix {
    /// Eight bytes of states and options; the first one is the state of the connection.
    var states: UInt64 = 0
    /// Pairs of 32-bit counters, of which the functions below read some.
    var counters: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    /// Not used, but in the way.
    var pacingRate: UInt64 = 0
    /// Not used, but in the way.
    var maximumPacingRate: UInt64 = 0
    /// Bytes that the other side has acknowledged.
    var bytesAcknowledged: UInt64 = 0
    /// Bytes that have come from the other side.
    var bytesReceived: UInt64 = 0

    /// Whether the other side sends nothing more; the state is the first byte (TCP_CLOSE_WAIT).
    var isHalfClosed: Bool { states & 0xff == 8 }
    /// The time since bytes were sent last, for the first time or again (`tcpi_last_data_sent`, 44 bytes from the start).
    var millisecondsSinceSent: UInt32 { UInt32(truncatingIfNeeded: counters.4 >> 32) }
    /// The time since the other side acknowledged last, be it nothing new (`tcpi_last_ack_recv`, at 56).
    var millisecondsSinceAnswer: UInt32 { UInt32(truncatingIfNeeded: counters.6) }

    /// Nil for what is no TCP connection.
    static func read(_ descriptor: Int32) -> TCPInfoPrefix? {
        var info = TCPInfoPrefix()
        var length = socklen_t(MemoryLayout<TCPInfoPrefix>.size)
        let failure = unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &length)
        return failure == 0 && length >= socklen_t(MemoryLayout<TCPInfoPrefix>.size) ? info : nil
    }
}
