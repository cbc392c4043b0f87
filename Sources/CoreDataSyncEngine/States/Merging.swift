extension PropertyState {
    /// The state that knows both.
    ///
    /// The caller replaces ``SyncValue/stored`` in minima and maxima by the store's value: it cannot be compared.
    package func merged(with other: Self) -> Self {
        switch (self, other) {
        case (.last(let a, let x), .last(let b, let y)):
            return a == b ? .last(a, x.greater(y)) : a > b ? self : other
        case (.counter(let a), .counter(let b)):
            return .counter(a.merging(b) { $0.merged(with: $1) })
        case (.elements(let kind, let a), .elements(let other, let b)) where kind == other:
            return .elements(kind, a.merged(with: b))
        default:
            guard rank == other.rank else { return rank > other.rank ? self : other }
            return self == other ? self : Self(isMinimum: rank == 1, candidates + other.candidates)
        }
    }

    /// Which kind wins over which: the more special one.
    private var rank: Int {
        switch self {
        case .last: 0
        case .minimum, .minima: 1
        case .maximum, .maxima: 2
        case .counter: 3
        case .elements(let kind, _): 2 + Int(kind.rawValue)
        }
    }

    /// The values of a minimum or maximum.
    var candidates: [Candidate] {
        switch self {
        case .minimum(let stamp, let value), .maximum(let stamp, let value): [Candidate(stamp, value)]
        case .minima(let candidates), .maxima(let candidates): candidates
        case .last, .counter, .elements: []
        }
    }

    /// The minimum or maximum of values: without those that another one beats which is not older.
    init(isMinimum: Bool, _ all: [Candidate]) {
        func beats(_ a: SyncValue, _ b: SyncValue) -> Bool {
            if isMinimum { return a.precedes(b) }
            // No value is the smallest one here, too.
            return b == .null ? a != .null : a != .null && b.precedes(a)
        }
        var kept: [Candidate] = []
        let inOrder = all.sorted { $0.stamp == $1.stamp ? beats($1.value, $0.value) : $0.stamp < $1.stamp }
        for candidate in inOrder.reversed() {
            if let last = kept.last, !beats(candidate.value, last.value) { continue }
            kept.append(candidate)
        }
        // Of two with one stamp only the better one counts; it comes first here.
        var result: [Candidate] = []
        for candidate in kept.reversed() where result.last?.stamp != candidate.stamp { result.append(candidate) }
        if result.count == 1 {
            self = isMinimum ? .minimum(result[0].stamp, result[0].value) : .maximum(result[0].stamp, result[0].value)
        } else {
            self = isMinimum ? .minima(result) : .maxima(result)
        }
    }

    /// The stamp of the last change.
    package var stamp: Stamp {
        switch self {
        case .last(let stamp, _), .minimum(let stamp, _), .maximum(let stamp, _): stamp
        case .minima(let candidates), .maxima(let candidates): candidates.last?.stamp ?? Self.never
        case .counter(let parts): parts.map { Stamp(ticks: $0.value.ticks, device: $0.key) }.max() ?? Self.never
        case .elements(_, let set): set.stamp ?? Self.never
        }
    }

    private static let never = Stamp(ticks: 0, device: DeviceID(high: 0, low: 0))

    /// All values in the state, those that do not win included.
    package var values: [SyncValue] {
        switch self {
        case .last(_, let value), .minimum(_, let value), .maximum(_, let value): [value]
        case .minima(let candidates), .maxima(let candidates): candidates.map(\.value)
        case .counter(let parts): parts.values.map(\.amount)
        case .elements(_, let set): set.elements.map(\.value)
        }
    }
}

extension PropertyState.Contribution {
    func merged(with other: Self) -> Self {
        if ticks != other.ticks { return ticks > other.ticks ? self : other }
        return Self(ticks: ticks, amount: amount.greater(other.amount))
    }
}

extension EdgeState {
    package func merged(with other: Self) -> Self {
        var result = self
        result.added = later(added, other.added)
        result.removed = later(removed, other.removed)
        result.position = known(position, other.position)
        result.inversePosition = known(inversePosition, other.inversePosition)
        return result
    }
}

extension ObjectState {
    /// The state that knows both. Both are of one object.
    package func merged(with other: Self) -> Self {
        precondition(id == other.id, "States of two objects are not merged.")
        var result = self
        result.merge(other)
        return result
    }

    package mutating func merge(_ other: Self) {
        entity = entity.merged(with: other.entity)
        born = earlier(born, other.born)
        created = later(created, other.created)
        deleted = later(deleted, other.deleted)
        properties.merge(other.properties)
        if !other.edges.isEmpty { edges.merge(other.edges) { $0.merged(with: $1) } }
        if !other.aliases.isEmpty { aliases.formUnion(other.aliases) }
    }

    /// The states of two lists together, one for each object, in the order of their IDs.
    ///
    /// Cost: linear where both lists are in that order, as the sidecar and snapshots have them.
    package static func joined(_ first: [Self], _ second: [Self]) -> [Self] {
        var result = ordered(first)
        let second = ordered(second)
        // Those that the first list does not have.
        var others: [Int] = []
        var place = 0
        for next in second.indices {
            let id = second[next].id
            while place < result.count, result[place].id < id { place += 1 }
            guard place < result.count, result[place].id == id else {
                others.append(next)
                continue
            }
            if result[place] != second[next] { result[place].merge(second[next]) }
        }
        return others.isEmpty ? result : inserted(others, of: second, result)
    }

    /// A list with some states of another one, both in the order of their IDs.
    private static func inserted(_ places: [Int], of second: [Self], _ first: [Self]) -> [Self] {
        var result: [Self] = []
        result.reserveCapacity(first.count + places.count)
        var next = 0
        for place in places {
            while next < first.count, first[next].id < second[place].id {
                result.append(first[next])
                next += 1
            }
            result.append(second[place])
        }
        result.append(contentsOf: first[next...])
        return result
    }

    /// One state for each object, by ID.
    private static func ordered(_ states: [Self]) -> [Self] {
        // States are large: they are not copied to be looked at.
        if states.indices.dropFirst().allSatisfy({ states[$0 - 1].id < states[$0].id }) { return states }
        var result: [GlobalID: Self] = [:]
        for state in states {
            if result[state.id]?.merge(state) == nil { result[state.id] = state }
        }
        return result.values.sorted { $0.id < $1.id }
    }
}

extension ObjectState.EntityClaim {
    func merged(with other: Self) -> Self {
        if stamp != other.stamp { return stamp > other.stamp ? self : other }
        return name.utf8.lexicographicallyPrecedes(other.name.utf8) ? other : self
    }
}

private func later(_ a: Stamp?, _ b: Stamp?) -> Stamp? {
    guard let a, let b else { return a ?? b }
    return max(a, b)
}

private func earlier(_ a: Stamp?, _ b: Stamp?) -> Stamp? {
    guard let a, let b else { return a ?? b }
    return min(a, b)
}

private func known(_ a: PropertyState?, _ b: PropertyState?) -> PropertyState? {
    guard let a, let b else { return a ?? b }
    return a.merged(with: b)
}
