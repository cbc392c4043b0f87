import Foundation

/// How a state is laid out. All numbers are varints.
///
///     [id, 16 bytes]                      in segments and snapshots only
///     flags                               see `Flags`
///     entity: number of its name          [stamp]
///     [created] [born] [deleted]          stamps
///     [runs]                              count, (distance, length - 1)…: names whose values were stored with `created`
///     [properties]                        count, (name << 3 | kind << 1 | stamp equals `created`, [stamp], value)…, by name's number
///     [edges]                             count, (relationship, destination, flags, stamps, positions)…, by number, destination
///     [aliases]                           count, 16 bytes each, in order
///     [more]                              bytes of a newer version
///
/// A stamp that equals the one before is one byte, 0. Else it is the distance of its milliseconds from those of the
/// stamp before, whether a counter follows, the counter, and the device's number in the table.
enum StateLayout {
    struct Flags: OptionSet {
        let rawValue: UInt64

        static let created = Flags(rawValue: 1)
        static let bornWithCreated = Flags(rawValue: 1 << 1)
        static let entityWithCreated = Flags(rawValue: 1 << 2)
        static let runs = Flags(rawValue: 1 << 3)
        static let properties = Flags(rawValue: 1 << 4)
        static let deleted = Flags(rawValue: 1 << 5)
        static let edges = Flags(rawValue: 1 << 6)
        static let born = Flags(rawValue: 1 << 7)
        static let aliases = Flags(rawValue: 1 << 8)
        static let more = Flags(rawValue: 1 << 9)
        static let known: UInt64 = (1 << 10) - 1
    }

    struct EdgeFlags: OptionSet {
        let rawValue: UInt8

        static let added = EdgeFlags(rawValue: 1)
        static let removed = EdgeFlags(rawValue: 1 << 1)
        static let position = EdgeFlags(rawValue: 1 << 2)
        static let inversePosition = EdgeFlags(rawValue: 1 << 3)
        static let known: UInt8 = 15
    }

    /// The lower bits of a property with several values: a byte says what they are (0 minima, 1 maxima, then
    /// ``PropertyState/ElementKind``).
    static let otherKind: UInt64 = 7
    /// 2026-01-01 00:00 UTC in milliseconds since 2001: distances from it are short for years.
    static let epoch: UInt64 = 788_918_400_000
    static let greatestMilliseconds: UInt64 = UInt64.max >> 16
    /// The least number of bytes of a state with its ID: ID, flags, entity, its stamp.
    static let leastSize = 19
}

/// Writes states one after another. The table grows by the names and devices that it does not have.
struct StateEncoder {
    var writer: ByteWriter
    var names: NameTable
    /// Whether values that are in the store and were never changed are listed as ranges of names.
    let hasRuns: Bool
    private var last: Stamp?

    init(names: NameTable, hasRuns: Bool, reserving capacity: Int = 0) {
        (self.names, self.hasRuns) = (names, hasRuns)
        writer = ByteWriter(reserving: capacity)
    }

    mutating func write(_ state: ObjectState) {
        var runs: [Int] = []
        let properties = sorted(state, runs: &runs)
        var flags: StateLayout.Flags = []
        if let created = state.created {
            flags.insert(.created)
            if state.born == created { flags.insert(.bornWithCreated) }
            if state.entity.stamp == created { flags.insert(.entityWithCreated) }
        }
        if state.born != nil, !flags.contains(.bornWithCreated) { flags.insert(.born) }
        if state.deleted != nil { flags.insert(.deleted) }
        if !runs.isEmpty { flags.insert(.runs) }
        if !properties.isEmpty { flags.insert(.properties) }
        if !state.edges.isEmpty { flags.insert(.edges) }
        if !state.aliases.isEmpty { flags.insert(.aliases) }

        writer.varint(flags.rawValue)
        writer.varint(names.number(of: state.entity.name))
        if let created = state.created { write(created) }
        if !flags.contains(.entityWithCreated) { write(state.entity.stamp) }
        if flags.contains(.born), let born = state.born { write(born) }
        if let deleted = state.deleted { write(deleted) }
        if !runs.isEmpty { write(runs: runs) }
        if !properties.isEmpty { write(properties, created: state.created) }
        if !state.edges.isEmpty { write(state.edges) }
        if !state.aliases.isEmpty {
            writer.varint(state.aliases.count)
            for alias in state.aliases.sorted() { writer.identifier(alias) }
        }
    }

    /// Properties by their names' numbers, without those that go into runs.
    private mutating func sorted(_ state: ObjectState, runs: inout [Int]) -> [(number: Int, state: PropertyState)] {
        var result: [(number: Int, state: PropertyState)] = []
        result.reserveCapacity(state.properties.count)
        var isComplete = true
        for (name, property) in state.properties {
            guard let number = names.existingNumber(of: name) else {
                isComplete = false
                break
            }
            result.append((number, property))
        }
        if !isComplete {
            // Equal states get equal tables.
            result.removeAll(keepingCapacity: true)
            let inOrder = state.properties.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (name, property) in inOrder { result.append((names.number(of: name), property)) }
        }
        if hasRuns, let created = state.created {
            let unchanged = PropertyState.last(created, .stored)
            for (number, property) in result where property == unchanged { runs.append(number) }
            if !runs.isEmpty {
                result.removeAll { $0.state == unchanged }
                runs.sort()
            }
        }
        if result.count > 1 { result.sort { $0.number < $1.number } }
        return result
    }

    private mutating func write(runs: [Int]) {
        var ranges: [ClosedRange<Int>] = []
        for number in runs {
            if let range = ranges.last, range.upperBound + 1 == number {
                ranges[ranges.count - 1] = range.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        writer.varint(ranges.count)
        var last = 0
        for range in ranges {
            writer.varint(range.lowerBound - last)
            writer.varint(range.count - 1)
            last = range.upperBound
        }
    }

    private mutating func write(_ properties: [(number: Int, state: PropertyState)], created: Stamp?) {
        writer.varint(properties.count)
        for (number, state) in properties { write(number, state, created) }
    }

    private mutating func write(_ number: Int, _ state: PropertyState, _ created: Stamp?) {
        let head = UInt64(number) << 3
        switch state {
        case .last(let stamp, let value): write(head, stamp, value, created)
        case .minimum(let stamp, let value): write(head | 1 << 1, stamp, value, created)
        case .maximum(let stamp, let value): write(head | 2 << 1, stamp, value, created)
        case .counter(let parts):
            writer.varint(head | 3 << 1)
            write(parts)
        case .elements(let kind, let set):
            writer.varint(head | StateLayout.otherKind)
            writer.byte(kind.rawValue)
            write(set)
        case .minima(let candidates), .maxima(let candidates):
            writer.varint(head | StateLayout.otherKind)
            if case .minima = state { writer.byte(0) } else { writer.byte(1) }
            writer.varint(candidates.count)
            for candidate in candidates {
                write(candidate.stamp)
                candidate.value.write(to: &writer)
            }
        }
    }

    private mutating func write(_ head: UInt64, _ stamp: Stamp, _ value: SyncValue, _ created: Stamp?) {
        if stamp == created {
            writer.varint(head | 1)
        } else {
            writer.varint(head)
            write(stamp)
        }
        value.write(to: &writer)
    }

    private mutating func write(_ parts: [DeviceID: PropertyState.Contribution]) {
        writer.varint(parts.count)
        for device in parts.keys.sorted() {
            guard let part = parts[device] else { continue }
            write(Stamp(ticks: part.ticks, device: device))
            part.amount.write(to: &writer)
        }
    }

    private mutating func write(_ set: ElementSet) {
        writer.varint(set.known.count)
        for device in set.known.keys.sorted() { write(Stamp(ticks: set.known[device] ?? 0, device: device)) }
        writer.varint(set.bases.count)
        for base in set.bases.sorted() { write(base) }
        writer.varint(set.elements.count)
        for element in set.inOrder {
            write(element.stamp)
            writer.string(element.position)
            element.value.write(to: &writer)
        }
    }

    private mutating func write(_ edges: [ObjectState.Edge: EdgeState]) {
        writer.varint(edges.count)
        for name in Set(edges.keys.map(\.relationship)).sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            _ = names.number(of: name)
        }
        var sorted: [(number: Int, destination: GlobalID, state: EdgeState)] = []
        sorted.reserveCapacity(edges.count)
        for (edge, state) in edges { sorted.append((names.number(of: edge.relationship), edge.destination, state)) }
        sorted.sort { ($0.number, $0.destination) < ($1.number, $1.destination) }
        for (number, destination, state) in sorted {
            writer.varint(number)
            writer.identifier(destination)
            var flags: StateLayout.EdgeFlags = []
            if state.added != nil { flags.insert(.added) }
            if state.removed != nil { flags.insert(.removed) }
            if state.position != nil { flags.insert(.position) }
            if state.inversePosition != nil { flags.insert(.inversePosition) }
            writer.byte(flags.rawValue)
            if let added = state.added { write(added) }
            if let removed = state.removed { write(removed) }
            if let position = state.position { write(0, position, nil) }
            if let position = state.inversePosition { write(0, position, nil) }
        }
    }

    mutating func write(_ stamp: Stamp) {
        guard stamp != last else { return writer.varint(0) }
        let distance = Int64(stamp.milliseconds) - Int64(last?.milliseconds ?? StateLayout.epoch)
        let counter = stamp.ticks & 0xffff
        let zigzag = UInt64(bitPattern: distance << 1 ^ distance >> 63)
        writer.varint((zigzag << 1 | (counter > 0 ? 1 : 0)) + 1)
        if counter > 0 { writer.varint(counter) }
        writer.varint(names.number(of: stamp.device))
        last = stamp
    }
}
