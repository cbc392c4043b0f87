import CoreDataSyncEngine
import Foundation
import Testing

@testable import CoreDataSync

/// A file that is damaged, late or gone delays what is in it, and nothing else; a place that fails is not asked for every file.
@Suite struct DamagedFileTests {
    private let base = MemoryPlace()
    private let clock = TestClock()
    private func device(_ number: UInt64) -> TestDevice { TestDevice(number, base, clock: clock) }

    private func name(_ number: UInt64) -> String { FileName.segment(number).description }

    /// Puts another file in the place of one.
    private func replace(_ number: UInt64, of device: TestDevice, _ bytes: Data?) async throws {
        try await base.delete(name(number), in: device.folder)
        if let bytes { _ = try await base.create(name(number), in: device.folder, bytes) }
    }

    /// Counts the reads of a file.
    private func reads(of file: String, by device: TestDevice, _ body: () async throws -> Void) async throws -> Int {
        let counter = Counter()
        device.place.hook = { if $0.kind == .read, $0.file == file { counter.add() } }
        try await body()
        device.place.hook = nil
        return counter.value
    }

    @Test func aTornFileIsReadAgainLaterAndLaterAndDelaysNoOther() async throws {
        let (a, b) = (device(1), device(2))
        for _ in 0..<3 { a.edit() }
        try await a.send()
        let whole = try #require(a.made[2])
        try await replace(2, of: a, whole.prefix(40))

        let first = try await b.receive()
        #expect(first.segments.map(\.number) == [1, 3])
        let fault = try #require(first.faults.first)
        #expect(fault.key == FileKey(a.id, .segment(2)) && fault.fault.kind == .torn && fault.attempts == 1)
        #expect(first.missing.ranges(of: a.id) == [2...2] && !first.hasMore)

        // Ten minutes with a cycle every second.
        let count = try await reads(of: name(2), by: b) {
            for _ in 0..<600 {
                clock.advance(seconds: 1)
                let received = try await b.receive()
                #expect(received.segments.isEmpty)
            }
        }
        #expect(count == 6, "after 5, 10, 20 … seconds")
        #expect(try await b.receive().faults.map(\.attempts) == [7])

        try await replace(2, of: a, whole)
        clock.advance(seconds: 700)
        let last = try await b.receive()
        #expect(last.segments.map(\.number) == [2] && last.faults.isEmpty && last.missing.isEmpty)
    }

    @Test func everyTornBeginningOfAFileIsAFault() async throws {
        let a = device(1)
        a.edit("a text")
        let whole = try #require(a.made[1])
        for count in stride(from: 0, to: whole.count, by: 7) {
            try await replace(1, of: a, whole.prefix(count))
            let received = try await device(2).receive()
            #expect(received.segments.isEmpty && received.faults.count == 1)
        }
    }

    @Test func aFileThatIsListedButDoesNotExistIsNoFault() async throws {
        let a = device(1)
        a.edit()
        try await a.send()
        try await replace(1, of: a, nil)
        // The listing is an earlier one.
        let late = LateListing(base: base, folder: a.folder, names: [name(1)])
        let b = TestDevice(2, late, clock: clock)
        let received = try await b.receive()
        #expect(received.segments.isEmpty && received.faults.isEmpty)
        #expect(received.missing.ranges(of: a.id) == [1...1])
    }

    @Test func aPlaceThatFailsEndsThePortion() async throws {
        let (a, b) = (device(1), device(2))
        for _ in 0..<20 { a.edit() }
        try await a.send()
        b.place.hook = { if $0.kind == .read { throw SyncPlaceError(.unavailable, "no network") } }
        let before = b.place.count
        let failed = try await b.receive()
        #expect(failed.segments.isEmpty && (failed.failure as? SyncPlaceError)?.message == "no network")
        #expect(b.place.count - before == 5, "two listings, three reads")
        #expect(failed.faults.count == 3 && !failed.hasMore)
        b.place.hook = nil
        #expect(try await b.receive().segments.count == 17)
        clock.advance(seconds: 5)
        let rest = try await b.receive()
        #expect(rest.segments.map(\.number) == [1, 2, 3] && rest.failure == nil && rest.faults.isEmpty)
    }

    @Test func oneFolderThatCannotBeListedDelaysNoOther() async throws {
        let (a, b, c) = (device(1), device(2), device(3))
        for device in [a, c] {
            device.edit()
            try await device.send()
        }
        let folder = a.folder
        b.place.hook = { if $0.folder == folder { throw SyncPlaceError(.noPermission, "no") } }
        let received = try await b.receive()
        #expect(received.segments.map(\.device) == [c.id] && received.own == nil)
        #expect((received.failure as? SyncPlaceError)?.reason == .noPermission)
        b.place.hook = { _ in throw SyncPlaceError(.unavailable, "no network") }
        await #expect(throws: SyncPlaceError.self) { _ = try await b.receive() }
    }

    @Test func aFullPlaceIsToldAndTheRestIsSentLater() async throws {
        let a = device(1)
        for _ in 0..<3 { a.edit() }
        a.place.hook = { operation in
            if operation.file?.hasSuffix("2") == true { throw SyncPlaceError(.full, "The place is full.") }
        }
        let sending = try await a.send()
        #expect(sending.sent == [1] && (sending.failure as? SyncPlaceError)?.reason == .full)
        a.place.hook = nil
        #expect(try await a.send().sent == [2, 3])
    }

    @Test func anOwnFileThatStaysDamagedIsWrittenAgainAfterAnHour() async throws {
        let a = device(1)
        a.edit()
        a.edit()
        let whole = try #require(a.made[1])
        try await replace(1, of: a, whole.prefix(40))
        #expect(try await a.send().waiting == [1])
        #expect(a.outbox.map(\.number) == [1], "the other one was sent")
        clock.advance(seconds: 3599)
        try await a.receive()
        #expect(try await a.send().waiting == [1])
        clock.advance(seconds: 1)
        #expect(try await a.send().sent == [1])
        #expect(try await base.read(name(1), in: a.folder) == whole)
    }
}

/// A place that lists files in a folder which are not there.
private struct LateListing: SyncPlace {
    let base: MemoryPlace
    let folder: String
    let names: [String]

    func list(_ folder: String?) async throws -> [String] {
        folder == self.folder ? names : try await base.list(folder)
    }
    func read(_ file: String, in folder: String) async throws -> Data? { try await base.read(file, in: folder) }
    func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        try await base.create(file, in: folder, data)
    }
    func delete(_ file: String, in folder: String) async throws { try await base.delete(file, in: folder) }
}
