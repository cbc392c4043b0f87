import CoreData
import CoreDataDigests
import CoreDataSyncEngine
import Foundation
import Testing

@testable import CoreDataSync

extension PassphraseKey.Cost {
    /// One mebibyte.
    static let forTests = Self(costBits: 10, blockSize: 8, parallelism: 1)
}

/// Only who knows the passphrase reads and writes files; changed, torn and foreign ones are told apart.
@Suite struct SealedPlaceTests {
    private let base = MemoryPlace()
    private let text = Data("milk, bread, butter".utf8)

    private func place(_ passphrase: String = "correct horse", _ base: (any SyncPlace)? = nil) -> SealedPlace {
        SealedPlace(base ?? self.base, passphrase: passphrase, cost: .forTests)
    }

    private func reason(_ body: () async throws -> Void) async -> SyncPlaceError.Reason? {
        do { try await body() } catch { return (error as? SyncPlaceError)?.reason }
        return nil
    }

    /// Puts other bytes in the place of a file, and tells why they cannot be read.
    private func reason(_ bytes: Data, file: String = "f", folder: String = "a") async throws -> SyncPlaceError.Reason?
    {
        try await base.delete(file, in: folder)
        _ = try await base.create(file, in: folder, bytes)
        let place = place()
        return await reason { _ = try await place.read(file, in: folder) }
    }

    /// A sealed file, as it is in the place.
    private func sealed() async throws -> Data {
        _ = try await place().create("f", in: "a", text)
        return try #require(try await base.read("f", in: "a"))
    }

    private func withChecksum(_ bytes: Data) -> Data { bytes.dropLast(32) + Digests.sha256(Data(bytes.dropLast(32))) }

    @Test func anotherDeviceReadsWithThePassphrase() async throws {
        let sealed = try await sealed()
        #expect(sealed.range(of: Data("milk".utf8)) == nil)
        #expect(sealed.count == text.count + 21 + SealedBytes.overhead + 32)
        #expect(try await place().read("f", in: "a") == text)
        #expect(try await place().list(nil) == ["a"])
        #expect(try await place().list("a") == ["f"])
        #expect(try await base.list(nil) == ["a", "sealed"])
        _ = try await place().create("f", in: "b", text)
        #expect(try await base.list("sealed").count == 1, "one salt")
        #expect(try await !place().create("f", in: "a", text))
    }

    @Test func aPassphraseIsTheSameInEveryForm() async throws {
        _ = try await place("Caf\u{e9}").create("f", in: "a", text)
        #expect(try await place("Cafe\u{301}").read("f", in: "a") == text)
    }

    @Test func aWrongPassphraseIsTold() async throws {
        _ = try await sealed()
        let (wrong, text) = (place("wrong horse"), text)
        #expect(await reason { try await wrong.unlock() } == .wrongPassphrase)
        #expect(await reason { _ = try await wrong.read("f", in: "a") } == .wrongPassphrase)
        #expect(await reason { _ = try await wrong.create("g", in: "a", text) } == .wrongPassphrase)
        #expect(await reason { try await place("").unlock() } == .wrongPassphrase)
        #expect(try await base.list("a") == ["f"])
        try await place().unlock()
    }

    @Test func everyChangedByteIsNoticed() async throws {
        let whole = try await sealed()
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 0x10
            let plain = try await reason(changed)
            #expect(plain == (index < 4 ? .altered : .damaged), "byte \(index)")
            if index >= whole.count - 32 { continue }
            // By someone who knows the form.
            let renewed = try await reason(withChecksum(changed))
            switch index {
            case 5..<13: #expect(renewed == .damaged, "another key, which has not arrived")
            case 13..<21: #expect(renewed == .damaged, "another length")
            default: #expect(renewed == .altered, "byte \(index)")
            }
        }
        #expect(try await reason(whole) == nil)
    }

    @Test func everyTornBeginningIsDamaged() async throws {
        let whole = try await sealed()
        for count in 0..<whole.count {
            #expect(try await reason(whole.prefix(count)) == .damaged, "\(count) bytes")
            let filled = whole.prefix(count) + Data(count: whole.count - count)
            #expect(try await reason(filled) == .damaged || (1..<4).contains(count), "\(count) bytes, then zeros")
        }
    }

    @Test func filesCannotChangeTheirNames() async throws {
        let whole = try await sealed()
        #expect(try await reason(whole, file: "g") == .altered)
        #expect(try await reason(whole, folder: "b") == .altered)
        #expect(try await reason(Data("OCDS, not sealed".utf8)) == .altered)
    }

    @Test func twoDevicesThatSealAPlaceAtOnceReadEachOther() async throws {
        // Each before the other's salt has arrived.
        let (one, two) = (MemoryPlace(), MemoryPlace())
        _ = try await place("p", one).create("f", in: "a", text)
        _ = try await place("p", two).create("f", in: "b", text)
        for (from, folder) in [(one, "a"), (one, "sealed"), (two, "b"), (two, "sealed")] {
            for name in try await from.list(folder) {
                _ = try await base.create(name, in: folder, try #require(try await from.read(name, in: folder)))
            }
        }
        let place = place("p")
        #expect(try await place.read("f", in: "a") == text)
        #expect(try await place.read("f", in: "b") == text)
        _ = try await place.create("g", in: "a", text)
        #expect(try await base.list("sealed").count == 2)
    }

    @Test func aSaltThatHasNotArrivedIsWaitedFor() async throws {
        _ = try await sealed()
        let name = try #require(try await base.list("sealed").first)
        let salt = try #require(try await base.read(name, in: "sealed"))
        try await base.delete(name, in: "sealed")
        let place = place()
        #expect(await reason { _ = try await place.read("f", in: "a") } == .damaged)
        #expect(await reason { try await place.unlock() } == .unavailable, "no second salt is made")
        // Torn, or with a cost that is easier to guess.
        for bytes in [salt.prefix(30), salt.prefix(5) + [11] + salt.dropFirst(6)] {
            try await base.delete(name, in: "sealed")
            _ = try await base.create(name, in: "sealed", bytes)
            #expect(await reason { try await place.unlock() } == .unavailable)
        }
        try await base.delete(name, in: "sealed")
        _ = try await base.create(name, in: "sealed", salt)
        #expect(try await place.read("f", in: "a") == text)
    }

    @Test func aPlaceWithUnsealedFilesIsNotSealed() async throws {
        _ = try await base.create("f", in: "a", text)
        let place = place()
        #expect(await reason { try await place.unlock() } == .unavailable)
        #expect(try await base.list(nil) == ["a"])
        #expect(await reason { _ = try await place.list("sealed") } == .invalidName)
    }

    @Test func aDeviceWithoutPassphraseWritesNothingIntoASealedPlace() async throws {
        let folder = try TemporaryFolder()
        let kitchen = try SyncingDevice("Kitchen", place())
        let phone = try SyncingDevice("Phone", base, url: folder("phone.sqlite"))
        try phone.save { _ in _ = phone.new("Unit", ["name": "kg"]) }
        try await kitchen.exchange()
        let names = try await base.list(nil)
        #expect(await reason { _ = try await phone.exchange() } == .wrongPassphrase)
        #expect(try await base.list(nil) == names)
        // What waited is sent when the passphrase is given.
        let sync = try Sync(phone.container, to: place(), device: "Phone", options: phone.options)
        try await sync.syncNow()
        try await kitchen.exchange()
        #expect(try kitchen.text("Unit", "kg", "name") == "kg")
        #expect(kitchen.sync.state.troubles.isEmpty)
    }

    @Test func devicesExchangeFilesOverASealedPlace() async throws {
        let clock = TestClock()
        let (a, b) = (TestDevice(1, place(), clock: clock), TestDevice(2, place(), clock: clock))
        for number in 1...3 { a.edit("\(number)") }
        #expect(try await a.send().sent == [1, 2, 3])
        try await a.exchange.publish(a.hello())
        let names = (1...3).map { FileName.segment($0).description }
        let files = try await names.asyncMap { try #require(try await base.read($0, in: a.folder)) }
        for (name, bytes) in [(names[0], files[0].prefix(50)), (names[1], files[0])] {
            try await base.delete(name, in: a.folder)
            _ = try await base.create(name, in: a.folder, bytes)
        }
        let received = try await b.receive()
        #expect(received.segments.map(\.number) == [3] && received.hellos.map(\.device) == [a.id])
        #expect(received.faults.map(\.fault.kind) == [.torn, .foreign])
        let wrong = TestDevice(3, place("wrong"), clock: clock)
        await #expect(throws: SyncPlaceError.self) { _ = try await wrong.receive() }
        wrong.edit()
        #expect((try await wrong.send().failure as? SyncPlaceError)?.reason == .wrongPassphrase)
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
