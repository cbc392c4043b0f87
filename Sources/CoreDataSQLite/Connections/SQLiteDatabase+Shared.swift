import Foundation

extension SQLiteDatabase.Shared {
    /// A connection that is lent shows its statements to whoever observes them now.
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

    /// What a thread waits for after it has let go of the lock; then it asks again.
    mutating func newWaiter() -> DispatchSemaphore {
        let waiter = DispatchSemaphore(value: 0)
        waiters.append(waiter)
        return waiter
    }

    /// Lets all that wait ask again.
    @inline(__always)
    mutating func wake() {
        guard !waiters.isEmpty else { return }
        for waiter in waiters { waiter.signal() }
        waiters.removeAll(keepingCapacity: true)
    }

    /// Whether a sweep is to be scheduled, because none is.
    mutating func beginSweep() -> Bool {
        defer { isSweepScheduled = true }
        return !isSweepScheduled
    }
}
