import Foundation

/// Reads states that ``StateEncoder`` wrote.
struct StateDecoder {
    var reader: ByteReader
    let names: NameTable
    let hasRuns: Bool
    private var last: Stamp?

    init(reader: ByteReader, names: NameTable, hasRuns: Bool) {
        (self.reader, self.names, self.hasRuns) = (reader, names, hasRuns)
    }

    mutating func state(id: GlobalID) throws(FileFault) -> ObjectState {
        let bits = try reader.varint()
        let flags = StateLayout.Flags(rawValue: bits)
        guard bits & ~StateLayout.Flags.known == 0 else { throw reader.fault("a state has unknown parts") }
        guard flags.contains(.created) || flags.isDisjoint(with: [.bornWithCreated, .entityWithCreated, .runs]),
            !flags.isSuperset(of: [.born, .bornWithCreated]), hasRuns || !flags.contains(.runs)
        else { throw reader.fault("the parts of a state do not go together") }

        let entity = try name()
        let created = flags.contains(.created) ? try stamp() : nil
        let entityStamp: Stamp
        if flags.contains(.entityWithCreated), let created { entityStamp = created } else { entityStamp = try stamp() }
        var state = ObjectState(id: id, entity: ObjectState.EntityClaim(entity, entityStamp))
        state.created = created
        if flags.contains(.bornWithCreated) { state.born = created }
        if flags.contains(.born) { state.born = try stamp() }
        if flags.contains(.deleted) { state.deleted = try stamp() }
        var properties: [PropertyTable.Element] = []
        if flags.contains(.runs), let created { try readRuns(into: &properties, created) }
        if flags.contains(.properties) { try readProperties(into: &properties, created) }
        if !properties.isEmpty {
            guard let table = PropertyTable(unordered: properties) else {
                throw reader.fault("a property is there twice")
            }
            state.properties = table
        }
        if flags.contains(.edges) { try readEdges(into: &state) }
        if flags.contains(.aliases) { try readAliases(into: &state) }
        if flags.contains(.more) { _ = try reader.section() }
        return state
    }

    private mutating func name() throws(FileFault) -> String {
        names.names[try reader.number(below: names.names.count, "the number of a name")]
    }

    private mutating func readRuns(
        into properties: inout [PropertyTable.Element], _ created: Stamp
    ) throws(FileFault) {
        let count = try reader.count(ofSize: 2)
        guard count > 0 else { throw reader.fault("a list in a state is empty") }
        var next = 0
        for index in 0..<count {
            let distance = try reader.number(below: names.names.count, "the number of a name")
            let length = try reader.number(below: names.names.count, "the length of a range of names") + 1
            let first = (index == 0 ? 0 : next - 1) + distance
            guard first >= next, first + length <= names.names.count else {
                throw reader.fault("ranges of names are not in order")
            }
            for number in first..<first + length { properties.append((names.names[number], .last(created, .stored))) }
            next = first + length
        }
    }

    private mutating func readProperties(
        into properties: inout [PropertyTable.Element], _ created: Stamp?
    ) throws(FileFault) {
        let count = try reader.count(ofSize: 2)
        guard count > 0 else { throw reader.fault("a list in a state is empty") }
        properties.reserveCapacity(properties.count + count)
        var last = -1
        for _ in 0..<count {
            let head = try head()
            guard head.number > last else { throw reader.fault("the properties of a state are not in order") }
            last = head.number
            properties.append((names.names[head.number], try property(head, created: created)))
        }
    }

    private struct Head {
        let number: Int
        let kind: Int
        let hasCreated: Bool
    }

    private mutating func head() throws(FileFault) -> Head {
        let bits = try reader.varint()
        guard bits >> 3 < UInt64(names.names.count) else { throw reader.fault("a name has no number \(bits >> 3)") }
        return Head(number: Int(bits >> 3), kind: Int(bits >> 1 & 3), hasCreated: bits & 1 == 1)
    }

    private mutating func property(_ head: Head, created: Stamp?) throws(FileFault) -> PropertyState {
        if head.kind == 3 {
            return head.hasCreated ? try several() : .counter(try contributions())
        }
        let stamp: Stamp
        if head.hasCreated {
            guard let created else { throw reader.fault("a property refers to a creation that is not known") }
            stamp = created
        } else {
            stamp = try self.stamp()
        }
        let value = try SyncValue(from: &reader)
        return switch head.kind {
        case 0: .last(stamp, value)
        case 1: .minimum(stamp, value)
        default: .maximum(stamp, value)
        }
    }

    private mutating func contributions() throws(FileFault) -> [DeviceID: PropertyState.Contribution] {
        let count = try reader.count(ofSize: 2)
        var parts: [DeviceID: PropertyState.Contribution] = [:]
        parts.reserveCapacity(count)
        for _ in 0..<count {
            let stamp = try stamp()
            let amount = try SyncValue(from: &reader)
            let part = PropertyState.Contribution(ticks: stamp.ticks, amount: amount)
            guard parts.updateValue(part, forKey: stamp.device) == nil else {
                throw reader.fault("a device adds to a sum twice")
            }
        }
        return parts
    }

    private mutating func several() throws(FileFault) -> PropertyState {
        let kind = try reader.number(below: 5, "the kind of a property")
        guard let elements = PropertyState.ElementKind(rawValue: UInt8(kind)) else {
            return try candidates(isMinimum: kind == 0)
        }
        return .elements(elements, try elementSet())
    }

    private mutating func elementSet() throws(FileFault) -> ElementSet {
        var known: [DeviceID: UInt64] = [:]
        for _ in 0..<(try reader.count(ofSize: 1)) {
            let stamp = try stamp()
            guard known.updateValue(stamp.ticks, forKey: stamp.device) == nil else {
                throw reader.fault("a device is known twice")
            }
        }
        var bases: Set<Stamp> = []
        for _ in 0..<(try reader.count(ofSize: 1)) {
            guard bases.insert(try stamp()).inserted else { throw reader.fault("a base is there twice") }
        }
        let count = try reader.count(ofSize: 3)
        var elements: [ElementSet.Element] = []
        elements.reserveCapacity(count)
        for _ in 0..<count {
            let stamp = try stamp()
            guard known[stamp.device].map({ $0 >= stamp.ticks }) == true else {
                throw reader.fault("an element is later than what its set knows")
            }
            let position = try reader.string()
            elements.append(.init(stamp, position, try SyncValue(from: &reader)))
        }
        let set = ElementSet(elements, known: known, bases: bases)
        guard set.inOrder == elements else { throw reader.fault("the elements of a property are not in order") }
        return set
    }

    private mutating func candidates(isMinimum: Bool) throws(FileFault) -> PropertyState {
        let count = try reader.count(ofSize: 2)
        var candidates: [PropertyState.Candidate] = []
        candidates.reserveCapacity(count)
        for _ in 0..<count {
            let stamp = try stamp()
            candidates.append(PropertyState.Candidate(stamp, try SyncValue(from: &reader)))
        }
        let state = PropertyState(isMinimum: isMinimum, candidates)
        guard count != 1, state.candidates == candidates else {
            throw reader.fault("the values of a property are not in order")
        }
        return state
    }

    private mutating func readEdges(into state: inout ObjectState) throws(FileFault) {
        let count = try reader.count(ofSize: 18)
        guard count > 0 else { throw reader.fault("a list in a state is empty") }
        state.edges.reserveCapacity(count)
        for _ in 0..<count {
            let relationship = try name()
            let destination = try reader.identifier()
            let bits = try reader.byte()
            guard bits & ~StateLayout.EdgeFlags.known == 0 else { throw reader.fault("a pair has unknown parts") }
            let flags = StateLayout.EdgeFlags(rawValue: bits)
            var edge = EdgeState()
            if flags.contains(.added) { edge.added = try stamp() }
            if flags.contains(.removed) { edge.removed = try stamp() }
            if flags.contains(.position) { edge.position = try position() }
            if flags.contains(.inversePosition) { edge.inversePosition = try position() }
            guard state.edges.updateValue(edge, forKey: ObjectState.Edge(relationship, destination)) == nil else {
                throw reader.fault("a pair is there twice")
            }
        }
    }

    private mutating func position() throws(FileFault) -> PropertyState {
        let bits = try reader.varint()
        guard bits < 8 else { throw reader.fault("a position has no name") }
        return try property(Head(number: 0, kind: Int(bits >> 1 & 3), hasCreated: bits & 1 == 1), created: nil)
    }

    private mutating func readAliases(into state: inout ObjectState) throws(FileFault) {
        let count = try reader.count(ofSize: 16)
        guard count > 0 else { throw reader.fault("a list in a state is empty") }
        state.aliases.reserveCapacity(count)
        for _ in 0..<count {
            guard state.aliases.insert(try reader.identifier()).inserted else {
                throw reader.fault("an alias is there twice")
            }
        }
    }

    private mutating func stamp() throws(FileFault) -> Stamp {
        let head = try reader.varint()
        guard head > 0 else {
            guard let last else { throw reader.fault("the first stamp refers to one before") }
            return last
        }
        let bits = (head - 1) >> 1
        let distance = Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1)
        let before = Int64(last?.milliseconds ?? StateLayout.epoch)
        let (milliseconds, isOutside) = before.addingReportingOverflow(distance)
        guard !isOutside, milliseconds >= 0, milliseconds <= Int64(StateLayout.greatestMilliseconds) else {
            throw reader.fault("a time is out of bounds")
        }
        let counter = (head - 1) & 1 == 1 ? try reader.number(below: 1 << 16, "the counter of a time") : 0
        let device = names.devices[try reader.number(below: names.devices.count, "the number of a device")]
        let stamp = Stamp(ticks: UInt64(milliseconds) << 16 | UInt64(counter), device: device)
        last = stamp
        return stamp
    }
}
