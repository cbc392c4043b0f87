import Foundation

extension SQLiteDatabase.Shared {
    /// Sets the current observer of a connection that is lent.
    @inline(__always)
    func prepare(_ connection: SQLiteConnection, _ client: SQLiteDatabase.Pool.Client) {
        connection.noteLoan(at: Ticks.now)
        if !stops.isEmpty { connection.state.stop = stop(of: client) }
        if connection.state.observer != nil || observer != nil { connection.state.observer = observer }
    }

    func stop(of client: SQLiteDatabase.Pool.Client) -> StatementStop? {
        stops.last { $0.client == client }?.stop
    }

    mutating func closeIdleConnections() {
        for connection in pool.takeIdle() { connection.close() }
    }

    /// Makes a semaphore that a thread waits for after it has released the lock; then it tries again.
    mutating func newWaiter() -> DispatchSemaphore {
        let waiter = DispatchSemaphore(value: 0)
        waiters.append(waiter)
        return waiter
    }

    /// Makes all waiting threads try again.
    @inline(__always)
    mutating func wake() {
        guard !waiters.isEmpty else { return }
        for waiter in waiters { waiter.signal() }
        waiters.removeAll(keepingCapacity: true)
    }

    /// Returns whether to schedule a sweep, because none is scheduled.
    mutating func beginSweep() -> Bool {
        defer { isSweepScheduled = true }
        return !isSweepScheduled
    }
}
