import CoreDataSQL
import Testing

/// Threads are numbers here, connections have letters.
@Suite struct ConnectionPoolTests {
    final class Connection {
        let name: String

        init(_ name: String) { self.name = name }
    }

    typealias Pool = ConnectionPool<Connection>

    let a = Connection("a")
    let one = Pool.Client(number: 1)
    let two = Pool.Client(number: 2)
    let three = Pool.Client(number: 3)

    private func name(_ entry: Pool.ReaderEntry) -> String {
        switch entry {
        case .inHand(let connection): "in hand \(connection.name)"
        case .lent(let connection): "lent \(connection.name)"
        case .mayOpen: "may open"
        case .mustWait: "must wait"
        case .isClosed: "closed"
        }
    }

    private func name(_ entry: Pool.WriterEntry) -> String {
        switch entry {
        case .taken(let connection, let isOutermost): "\(connection?.name ?? "to open")\(isOutermost ? "" : " again")"
        case .mustWait: "must wait"
        case .isInWrite: "in write"
        case .isClosed: "closed"
        }
    }

    @Test func readersAreLentOpenedAndWaitedFor() {
        var pool = Pool(a, usesOneConnection: false, readerLimit: 2)
        #expect(name(pool.enterReader(one)) == "lent a")
        #expect(name(pool.enterReader(one)) == "in hand a")
        #expect(name(pool.enterReader(two)) == "may open")
        #expect(name(pool.enterReader(three)) == "must wait", "a place is taken while one is being opened")
        pool.didOpenReader(nil, for: two)
        #expect(name(pool.enterReader(three)) == "may open", "it could not be opened: the place is free")
        pool.didOpenReader(Connection("b"), for: three)
        #expect(name(pool.enterReader(three)) == "in hand b")
        #expect(name(pool.enterReader(two)) == "must wait")
        pool.giveBack(a)
        #expect(pool.idleReaders.map(\.name) == ["a"])
        #expect(name(pool.enterReader(two)) == "lent a")
        #expect(pool.connections.map(\.name) == ["b", "a"])
    }

    @Test func theWriterIsOpenedByTheFirstWriteAndTakenInTurns() {
        var pool = Pool(a, usesOneConnection: false, readerLimit: 2)
        #expect(name(pool.enterWriter(one, isWrite: true)) == "to open")
        #expect(name(pool.enterWriter(two, isWrite: true)) == "must wait")
        pool.didOpenWriter(Connection("w"))
        #expect(name(pool.enterWriter(one, isWrite: true)) == "in write")
        #expect(name(pool.enterReader(one)) == "lent a", "readers do not wait for the writer")
        pool.leaveWriter(fromWrite: true)
        #expect(!pool.isWriting)
        #expect(name(pool.enterWriter(two, isWrite: true)) == "w")
    }

    @Test func theOnlyConnectionIsEnteredAsOftenAsItIsLeft() {
        var pool = Pool(a, usesOneConnection: true, readerLimit: 4)
        #expect(name(pool.enterWriter(one, isWrite: false)) == "a")
        #expect(name(pool.enterWriter(one, isWrite: true)) == "a again", "a write inside a read")
        #expect(name(pool.enterWriter(one, isWrite: false)) == "a again", "a read inside that")
        #expect(name(pool.enterWriter(one, isWrite: true)) == "in write")
        pool.leaveWriter(fromWrite: false)
        pool.leaveWriter(fromWrite: true)
        #expect(name(pool.enterWriter(two, isWrite: false)) == "must wait")
        #expect(name(pool.enterWriter(one, isWrite: true)) == "a again", "the write inside has ended")
        pool.leaveWriter(fromWrite: true)
        pool.leaveWriter(fromWrite: false)
        #expect(name(pool.enterWriter(two, isWrite: true)) == "a")
    }

    @Test func whatIsInUseIsClosedWhenItComesBackTheWriterLast() {
        var pool = Pool(a, usesOneConnection: false, readerLimit: 3)
        _ = pool.enterReader(one)
        _ = pool.enterReader(two)
        pool.didOpenReader(Connection("b"), for: two)
        _ = pool.enterWriter(three, isWrite: true)
        pool.didOpenWriter(Connection("w"))
        pool.giveBack(a)
        let isFirst = pool.close()
        let isSecond = pool.close()
        #expect(isFirst && !isSecond)
        #expect(name(pool.enterReader(one)) == "closed" && name(pool.enterWriter(one, isWrite: true)) == "closed")
        #expect(name(pool.enterReader(two)) == "in hand b", "a call inside a call goes on")
        #expect(pool.takeIdle().map(\.name) == ["a"])
        #expect(pool.isInUse(besidesBy: two))
        pool.leaveWriter(fromWrite: true)
        #expect(!pool.isInUse(besidesBy: two) && pool.isInUse(besidesBy: one))
        #expect(pool.takeIdle().isEmpty, "the writer waits for the readers")
        pool.giveBack(Connection("stranger"))
        pool.giveBack(pool.connections[0])
        #expect(pool.takeIdle().map(\.name) == ["b", "w"])
        #expect(!pool.isInUse(besidesBy: one) && pool.connections.isEmpty)
    }
}

extension ConnectionPoolTests {
    @Test func aConnectionThatIsDiscardedLeavesItsPlace() {
        var pool = Pool(a, usesOneConnection: false, readerLimit: 1)
        _ = pool.enterReader(one)
        pool.discard(a)
        #expect(pool.connections.isEmpty)
        guard case .mayOpen = pool.enterReader(two) else {
            Issue.record("its place is taken")
            return
        }
        let writer = Connection("w")
        _ = pool.enterWriter(one, isWrite: true)
        pool.didOpenWriter(writer)
        pool.leaveWriter(fromWrite: true)
        pool.discardWriter()
        guard case .taken(nil, isOutermost: true) = pool.enterWriter(two, isWrite: true) else {
            Issue.record("another writer is opened")
            return
        }
    }

    @Test func idleConnectionsAreLentTogether() {
        var pool = Pool(a, usesOneConnection: false, readerLimit: 2)
        _ = pool.enterReader(one)
        _ = pool.enterReader(two)
        pool.didOpenReader(Connection("b"), for: two)
        for connection in pool.connections { pool.giveBack(connection) }
        #expect(pool.lendIdle(to: three) { $0.name == "b" }.map(\.name) == ["b"])
        #expect(pool.idleReaders.map(\.name) == ["a"])
        #expect(pool.isInUse(by: three))
        #expect(pool.lendIdle(to: three) { $0.name == "b" }.isEmpty)
    }
    /// Who closes waits for connections that are being opened, or has their clients close them.
    @Test func aConnectionThatIsBeingOpenedIsInUseWhereItIsCounted() {
        var pool = Pool(a, usesOneConnection: false, readerLimit: 2)
        #expect(name(pool.enterReader(one)) == "lent a" && name(pool.enterReader(two)) == "may open")
        #expect(pool.isLent(to: one) && !pool.isLent(to: two))
        #expect(pool.isInUse(besidesBy: one) && !pool.isInUse(besidesBy: one, countsOpening: false))
        #expect(pool.isInUse(besidesBy: two, countsOpening: false), "a connection that is lent is in use")
        pool.didOpenReader(nil, for: two)
        #expect(!pool.isInUse(besidesBy: one))
    }
}
