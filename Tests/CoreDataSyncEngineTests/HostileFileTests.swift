import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

/// Readers of bytes that anybody may have written: a fault or a value, never a stop.
@Suite struct HostileFileTests {
    /// A reader, with bytes that it accepts.
    struct Format: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The kind of its frame; `nil` for bytes of the sidecar, which have none.
        let kind: Frame.Kind?
        let bytes: Data
        /// Reads the bytes, and writes and reads again what they mean.
        let read: @Sendable (Data) throws -> Void
    }

    static let formats = [
        Format(testDescription: "segment", kind: .segment, bytes: FileTests.segment(seed: 4, count: 3).bytes) {
            let segment = try Segment(bytes: $0)
            #expect(try Segment(bytes: segment.bytes) == segment)
        },
        Format(testDescription: "snapshot", kind: .snapshot, bytes: snapshot.bytes) {
            let snapshot = try Snapshot(bytes: $0)
            #expect(try Snapshot(bytes: snapshot.bytes) == snapshot)
        },
        Format(testDescription: "hello", kind: .hello, bytes: FileTests.hello.bytes) {
            let hello = try Hello(bytes: $0)
            #expect(try Hello(bytes: hello.bytes) == hello)
        },
        Format(testDescription: "model", kind: .model, bytes: ModelOutlineTests.outline.bytes) {
            let outline = try ModelOutline(bytes: $0)
            #expect(try ModelOutline(bytes: outline.bytes) == outline)
        },
        Format(testDescription: "state", kind: nil, bytes: state.bytes) {
            let state = try state.coder.decode($0, id: RandomStates.ids[0])
            var coder = HostileFileTests.state.coder
            #expect(try coder.decode(coder.encode(state), id: state.id) == state)
        },
        Format(testDescription: "names", kind: nil, bytes: state.coder.names.bytes) {
            let names = try NameTable(bytes: $0)
            #expect(try NameTable(bytes: names.bytes) == names)
        },
        Format(testDescription: "numbers of segments", kind: nil, bytes: FileTests.seen().bytes) {
            let vector = try VersionVector(bytes: $0)
            #expect(try VersionVector(bytes: vector.bytes) == vector)
        },
        Format(testDescription: "value", kind: nil, bytes: SyncValue.string("日本").bytes) {
            let value = try SyncValue(bytes: $0)
            #expect(try SyncValue(bytes: value.bytes) == value)
        },
    ]

    private static let snapshot = Snapshot(
        device: FileTests.device, number: 1, modelHash: Data(), contains: FileTests.seen(),
        states: FileTests.segment(seed: 8, count: 2).states)

    private static let state: (coder: StateCoder, bytes: Data) = {
        var random = RandomStates(seed: 5)
        var coder = StateCoder()
        coder.register(["Item", "name", "quantity", "unit", "unit#", "size.width"])
        let parts = (0..<6).map { _ in random.state() }
        let state = parts.dropFirst().reduce(parts[0]) { $0.merged(with: $1) }
        let bytes = coder.encode(state)
        return (coder, bytes)
    }()

    /// The fault of a reader; any other error is a mistake of ours.
    private func fault(_ format: Format, _ bytes: Data) -> FileFault? {
        do { try format.read(bytes) } catch let fault as FileFault { return fault } catch {
            Issue.record("\(format.testDescription) throws \(error)")
        }
        return nil
    }

    private func payload(_ format: Format) throws -> [UInt8] {
        guard let kind = format.kind else { return Array(format.bytes) }
        var reader = try Frame.open(kind, format.bytes)
        return try Array(reader.raw(reader.remaining))
    }

    /// The bytes of a payload with an intact frame: a device that is wrong, not a wire.
    private func sealed(_ format: Format, _ payload: [UInt8]) -> Data {
        format.kind.map { Frame.seal($0, payload) } ?? Data(payload)
    }

    @Test(arguments: formats)
    func readsIntactBytes(format: Format) throws {
        try format.read(format.bytes)
        // Part of other bytes: indices do not begin at 0.
        try format.read((Data([1, 2, 3]) + format.bytes).dropFirst(3))
    }

    @Test(arguments: formats.filter { $0.kind != nil })
    func tornFileIsAFaultAtEveryLengthAndByte(format: Format) {
        for length in 0..<format.bytes.count {
            #expect(fault(format, format.bytes.prefix(length))?.kind == .torn, "\(length) bytes")
        }
        for index in format.bytes.indices {
            var bytes = format.bytes
            bytes[index] ^= 1 << UInt8(index % 8)
            let kind = fault(format, bytes)?.kind
            #expect(kind == (index < 4 ? .foreign : .torn), "byte \(index)")
        }
    }

    @Test(arguments: formats)
    func payloadThatIsCutIsAFault(format: Format) throws {
        let payload = try payload(format)
        for length in 0..<payload.count {
            #expect(fault(format, sealed(format, Array(payload[..<length]))) != nil, "\(length) bytes")
        }
    }

    /// Each byte as the greatest, the least, and with each bit flipped.
    @Test(arguments: formats)
    func payloadWithAChangedByteIsReadOrAFault(format: Format) throws {
        let payload = try payload(format)
        for index in payload.indices {
            let bytes = [0, 0x7f, 0x80, 0xff] + (0..<8).map { payload[index] ^ 1 << $0 }
            for byte in Trials.some(of: bytes) {
                var changed = payload
                changed[index] = byte
                _ = fault(format, sealed(format, changed))
            }
        }
    }

    /// A number in place of each byte that is far greater than the file.
    @Test(arguments: formats)
    func hugeNumbersAreReadOrAFault(format: Format) throws {
        let payload = try payload(format)
        let numbers: [UInt64] = [1 << 31, 1 << 32, 1 << 62, UInt64(Int64.max), 1 << 63, .max]
        for index in payload.indices {
            for number in Trials.some(of: numbers, atLeast: 2) {
                var writer = ByteWriter()
                writer.raw(Array(payload[..<index]))
                writer.varint(number)
                writer.raw(Array(payload[(index + 1)...]))
                _ = fault(format, sealed(format, writer.bytes))
            }
        }
    }

    @Test(arguments: formats, Trials.seeds(8))
    func randomBytesAreReadOrAFault(format: Format, seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let payload = try payload(format)
        for _ in 0..<Trials.count(200) {
            let noise = (0..<numbers.below(60)).map { _ in UInt8(numbers.below(numbers.chance(2) ? 256 : 8)) }
            _ = fault(format, sealed(format, noise))
            _ = fault(format, Data(noise))
            // Several places at once, and pieces twice.
            var mixed = payload
            for _ in 0..<numbers.below(4) { mixed[numbers.below(mixed.count)] = UInt8(numbers.below(256)) }
            let from = numbers.below(mixed.count)
            mixed.insert(
                contentsOf: mixed[from..<min(mixed.count, from + numbers.below(20))], at: numbers.below(mixed.count))
            _ = fault(format, sealed(format, mixed))
        }
    }

    /// What is reserved for elements is bounded by the bytes that are left.
    @Test func countsReserveNoMoreThanTheFileCanHold() throws {
        var names = NameTable()
        _ = (names.number(of: "Item"), names.number(of: FileTests.device))
        var table = ByteWriter()
        names.write(to: &table)
        for (count, isRead) in [(UInt64(2), false), (1 << 20, false), (1 << 40, false), (.max, false), (1, true)] {
            var states = ByteWriter()
            states.varint(count)
            states.identifier(RandomStates.ids[0])
            states.raw([0, 0, 1, 0])
            let read = try? StateList.decode(NameTable(bytes: table.asData), states: ByteReader(states.bytes))
            #expect((read?.count == 1) == isRead)
        }
    }

    /// A list of names cannot be repeated by every state of a segment: only the sidecar's states have ranges of names.
    @Test func rangesOfNamesAreForTheSidecarOnly() throws {
        var names = NameTable()
        _ = (names.number(of: "Item"), names.number(of: "name"), names.number(of: FileTests.device))
        let bytes: [UInt8] = [0x0f, 0, 1, 0, 1, 1, 0]
        let state = try StateCoder(names: names).decode(Data(bytes), id: RandomStates.ids[0])
        #expect(state.properties.keys.sorted() == ["name"])
        var writer = ByteWriter()
        writer.identifier(RandomStates.ids[0])
        writer.raw(bytes)
        #expect(throws: FileFault.self) {
            var reader = ByteReader(writer.bytes)
            return try ObjectState(from: &reader, names: names)
        }
    }

    /// 20,000 new objects of five properties, as a first upload has them.
    @Test(.timeLimit(.minutes(1))) func largeSegmentIsSmallAndQuick() throws {
        let stamp = Stamp(ticks: 817_000_000_000 << 16, device: FileTests.device)
        let count = Trials.isLong ? 20_000 : 2_000
        let states = (0..<UInt64(count)).map { number in
            var state = ObjectState(id: GlobalID(high: 7, low: number), entity: .init("Item", stamp))
            (state.born, state.created) = (stamp, stamp)
            state.properties["name"] = .last(stamp, .string("Milk"))
            for name in ["quantity", "row", "rank"] { state.properties[name] = .last(stamp, .integer(3)) }
            state.properties["unit"] = .last(stamp, .reference(GlobalID(high: 8, low: number)))
            return state
        }
        let segment = Segment(
            device: FileTests.device, number: 1, modelHash: Data(), seen: VersionVector(), states: states)
        let bytes = segment.bytes
        #expect(bytes.count < 60 * count)
        #expect(try Segment(bytes: bytes) == segment)
    }
}
