// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Other programs.
extension System {
    /// Starts a program and leaves it to itself.
    ///
    /// It gets a session of its own, so a signal from the keyboard does not reach it, no signal is blocked in it, and what it writes
    /// is discarded.
    ///
    /// - Parameter command: The name of the program, which is looked up in `PATH`, and its arguments.
    /// - Returns: Whether the program was found and started.
    package static func start(_ command: [String]) -> Bool {
        guard let program = command.first else { return false }
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        unsafe sigemptyset(&none)
        guard unsafe posix_spawn_file_actions_init(&actions) == 0, unsafe posix_spawnattr_init(&attributes) == 0 else {
            return false
        }
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for descriptor in 0...2 as ClosedRange<Int32> {
            unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | newSession)
        // The system copies the texts before `posix_spawnp` returns.
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var child: pid_t = 0
        guard unsafe posix_spawnp(&child, program, &actions, &attributes, &arguments, environ) == 0 else { return false }
        // The exit status has to be collected, or the process would stay as a zombie.
        try? Threads.start("child", stackBytes: 64 << 10) { [child] in
            while waitpid(child, nil, 0) < 0, errno == EINTR {}
        }
        return true
    }

    /// The flag that gives a program a session of its own. The headers of the system define it for GNU's own programs only.
    private static let newSession: Int16 = 0x80
}
