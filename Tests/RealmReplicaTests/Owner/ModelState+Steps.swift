// SPDX-License-Identifier: Apache-2.0

@testable import RealmReplica

extension ModelState {
    /// Everything that may happen next.
    func steps(_ flaw: ModelFlaw?) -> [ModelStep] {
        var steps: [ModelStep] = []
        for (index, process) in processes.enumerated() { add(process, index, &steps) }
        for index in network.indices where mayDeliver(network[index], flaw) { steps.append(.deliver(index)) }
        for index in server.running.indices {
            steps.append(.finish(index))
            if budget.cancels > 0 { steps.append(.cancel(index)) }
        }
        if budget.prunes > 0, server.running.isEmpty, server.visible == server.durable,
            server.durable.pruned < server.durable.version
        {
            steps.append(.prune)
        }
        if budget.failovers > 0 {
            steps.append(.failover(keepsRunning: false, keepsVisible: false))
            if server.visible != server.durable { steps.append(.failover(keepsRunning: false, keepsVisible: true)) }
            if !server.running.isEmpty { steps.append(.failover(keepsRunning: true, keepsVisible: true)) }
        }
        return steps
    }

    private func add(_ process: ModelProcess, _ index: Int, _ steps: inout [ModelStep]) {
        guard let machine = process.machine else {
            if budget.claims > 0 { steps.append(.open(index)) }
            return
        }
        if process.isWaiting {
            // A connection that has ended is noticed for nothing.
            if budget.lost > 0 || !isAnswerable(index) { steps.append(.lose(index)) }
            if budget.unsent > 0, network.contains(where: { $0.isAwaited && $0.process == index }) { steps.append(.drop(index)) }
        } else if process.next != nil {
            if network.count < 3 { steps.append(.send(index)) }
            if budget.deadlines > 0 { steps.append(.deadline(index)) }
        } else if case .current = machine.state {
            if budget.writes > 0 { steps.append(.write(index)) }
            if budget.releases > 0 { steps.append(.release(index)) }
        }
        if budget.crashes > 0 { steps.append(.crash(index)) }
    }

    /// Whether the reply that a process waits for may still come.
    private func isAnswerable(_ index: Int) -> Bool {
        network.contains { $0.isAwaited && $0.process == index }
            || server.running.contains { $0.message.isAwaited && $0.message.process == index }
    }

    private func mayDeliver(_ message: ModelMessage, _ flaw: ModelFlaw?) -> Bool {
        switch message.request {
        case .head, .checksum: return true
        // The lock of the head.
        default: return server.running.count < (flaw == .checksBeforeReplicating ? 2 : 1)
        }
    }

    /// Does a step.
    mutating func take(_ step: ModelStep, _ flaw: ModelFlaw?) {
        switch step {
        case .open(let index): open(index)
        case .write(let index): write(index, flaw)
        case .release(let index):
            budget.releases -= 1
            handle(.release, index, flaw)
        case .send(let index): send(index)
        case .deadline(let index):
            budget.deadlines -= 1
            processes[index].next = nil
            handle(.deadline, index, flaw)
        case .lose(let index): lose(index, flaw)
        case .drop(let index):
            budget.unsent -= 1
            network.removeAll { $0.isAwaited && $0.process == index }
            reply(.unsent(""), index, flaw)
        case .crash(let index):
            budget.crashes -= 1
            close(index)
        case .deliver(let index): deliver(network.remove(at: index), flaw)
        case .finish(let index): finish(server.running.remove(at: index), flaw)
        case .cancel(let index): cancel(server.running.remove(at: index), flaw)
        case .prune:
            budget.prunes -= 1
            server.visible.pruned = server.visible.version
            server.durable.pruned = server.visible.version
        case .failover(let keepsRunning, let keepsVisible): failOver(keepsRunning, keepsVisible)
        }
    }

    // MARK: - Processes

    mutating func open(_ index: Int) {
        if budget.claims > 0 { budget.claims -= 1 }
        lastIncarnation += 1
        processes[index].incarnation = lastIncarnation
        processes[index].machine = OwnerMachine(ModelLog.owner(lastIncarnation))
        handle(.claim, index, nil)
    }

    mutating func write(_ index: Int, _ flaw: ModelFlaw?) {
        if budget.writes > 0 { budget.writes -= 1 }
        lastWrite += 1
        processes[index].value = lastWrite
        let version = UInt64(processes[index].file.count + 2)
        handle(.append(LogRequest.Entry(version: version, checksum: ModelLog.checksum(lastWrite))), index, flaw)
    }

    private mutating func send(_ index: Int) {
        guard let request = processes[index].next else { return }
        processes[index].next = nil
        processes[index].isWaiting = true
        network.append(
            ModelMessage(
                process: index, incarnation: processes[index].incarnation, value: processes[index].value, request: request))
    }

    private mutating func lose(_ index: Int, _ flaw: ModelFlaw?) {
        if isAnswerable(index) { budget.lost -= 1 }
        abandon(index)
        reply(.lost, index, flaw)
    }

    /// Lets what a process has sent go on without it.
    private mutating func abandon(_ index: Int) {
        for place in network.indices where network[place].process == index { network[place].isAwaited = false }
        server.running = server.running.map { transaction in
            guard transaction.message.process == index else { return transaction }
            var message = transaction.message
            message.isAwaited = false
            return ModelTransaction(message: message, reply: transaction.reply, result: transaction.result)
        }
    }

    /// Ends a process, which leaves its file and what it has sent.
    private mutating func close(_ index: Int) {
        abandon(index)
        let file = processes[index].file
        processes[index] = ModelProcess()
        processes[index].file = file
    }

    private mutating func reply(_ reply: LogReply, _ index: Int, _ flaw: ModelFlaw?) {
        processes[index].isWaiting = false
        handle(.reply(reply), index, flaw)
    }

    /// Passes an event to the machine of a process, and does what it says.
    private mutating func handle(_ event: OwnerMachine.Event, _ index: Int, _ flaw: ModelFlaw?) {
        guard var machine = processes[index].machine else { return }
        let action = ModelState.handle(event, &machine, flaw)
        processes[index].machine = machine
        switch action {
        case .send(let request): processes[index].next = request
        case .finish(let outcome): end(outcome, index)
        }
    }

    /// The machine, or one with a flaw.
    private static func handle(
        _ event: OwnerMachine.Event, _ machine: inout OwnerMachine, _ flaw: ModelFlaw?
    ) -> OwnerMachine.Action {
        if case .appending(let head, _) = machine.state {
            if flaw == .unknownIsNotStored, event == .reply(.lost) {
                machine.state = .current(head)
                return .finish(.unavailable)
            }
            if flaw == .conflictIsStored, event == .reply(.conflict) {
                machine.state = .current(head)
                return .finish(.stored)
            }
        }
        return machine.handle(event)
    }

    /// Does what an outcome means for the file and for whoever has asked.
    private mutating func end(_ outcome: OwnerMachine.Outcome, _ index: Int) {
        let value = processes[index].value
        processes[index].value = 0
        switch outcome {
        case .claimed(let head): processes[index].file = Array(server.visible.values.prefix(Int(head.version) - 1))
        case .stored where value != 0:
            processes[index].file.append(value)
            acknowledged[value] = UInt8(processes[index].file.count + 1)
        case .unavailable where value != 0: denied.insert(value)
        case .fenced where value != 0:
            denied.insert(value)
            close(index)
        case .unknown, .fenced, .unavailable, .missing, .released: close(index)
        case .stored: break
        }
    }

    // MARK: - The log

    private mutating func deliver(_ message: ModelMessage, _ flaw: ModelFlaw?) {
        switch server.effect(of: message, flaw) {
        case .reply(let reply): if message.isAwaited { self.reply(reply, message.process, flaw) }
        case .transaction(let transaction): server.running.append(transaction)
        }
    }

    private mutating func finish(_ transaction: ModelTransaction, _ flaw: ModelFlaw?) {
        commit(transaction, flaw)
        server.durable = server.visible
        if transaction.message.isAwaited { reply(transaction.reply, transaction.message.process, flaw) }
    }

    /// Makes visible what a transaction has done. A log that has checked before does it on whatever there is now.
    private mutating func commit(_ transaction: ModelTransaction, _ flaw: ModelFlaw?) {
        if flaw == .checksBeforeReplicating, case .append(_, let entry) = transaction.message.request {
            server.visible.store(transaction.message.value, at: Int(entry.version))
        } else {
            server.visible = transaction.result
        }
    }

    /// Ends the wait of a transaction: it is visible and not durable. The owner takes this as lost.
    private mutating func cancel(_ transaction: ModelTransaction, _ flaw: ModelFlaw?) {
        budget.cancels -= 1
        commit(transaction, flaw)
        guard transaction.message.isAwaited else { return }
        reply(flaw == .cancels ? transaction.reply : .lost, transaction.message.process, flaw)
    }

    /// The standby becomes the server. It has what is durable, and by chance more; all connections end.
    private mutating func failOver(_ keepsRunning: Bool, _ keepsVisible: Bool) {
        budget.failovers -= 1
        if keepsVisible { server.durable = server.visible }
        if keepsRunning, let transaction = server.running.first { server.durable = transaction.result }
        server.visible = server.durable
        server.running = []
        network = []
    }
}
