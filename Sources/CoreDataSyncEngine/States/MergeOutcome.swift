/// What changes when a part of a state is merged into the state that a device knows.
package struct MergeOutcome: Sendable {
    /// The merged state. Values that did not change are `.stored` as they were.
    package let state: ObjectState
    package let existed: Bool
    /// The names of the properties that get the value of ``state``, sorted.
    package let changed: [String]
    /// The pairs that are added, removed or moved.
    package let changedEdges: [ObjectState.Edge]
    /// Values of one property that were written by two devices, each without knowledge of the other.
    package let losses: [Loss]

    /// Two values of a property, of which one is given up.
    package struct Loss: Hashable, Sendable {
        package var property: String
        package var losing: PropertyState
        package var winning: PropertyState
        /// Whether the losing value is the one that this device has.
        package var isLocal: Bool

        package init(property: String, losing: PropertyState, winning: PropertyState, isLocal: Bool) {
            (self.property, self.losing, self.winning, self.isLocal) = (property, losing, winning, isLocal)
        }
    }

    /// - Parameters:
    ///   - local: `nil` for an object that the device does not know.
    ///   - isStored: whether the store has the values that `local` leaves to it. Without a row they are not known here.
    ///   - isConcurrent: whether the writer of `incoming` did not know a local write with that stamp.
    package init(
        _ local: ObjectState?, _ incoming: ObjectState, isStored: Bool = true,
        isConcurrent: (Stamp) -> Bool = { _ in false }
    ) {
        existed = local?.isAlive ?? false
        var merged = local ?? ObjectState(id: incoming.id, entity: incoming.entity)
        var losses: [Loss] = []
        var changed: [String] = []
        for (name, theirs) in incoming.properties {
            guard let ours = merged.properties[name] else {
                merged.properties[name] = theirs
                changed.append(name)
                continue
            }
            // One stamp is one value, whether it is here or in the store.
            if ours.stamp == theirs.stamp, ours.isPlain, theirs.isPlain, isStored || ours.value != .stored { continue }
            let winner = ours.merged(with: theirs)
            let isOurs = winner == ours
            if !isOurs {
                merged.properties[name] = winner
                changed.append(name)
            }
            if ours.isPlain, theirs.isPlain, isConcurrent(ours.stamp) {
                losses.append(
                    Loss(
                        property: name, losing: isOurs ? theirs : ours, winning: isOurs ? ours : theirs,
                        isLocal: !isOurs))
            }
        }
        var changedEdges: [ObjectState.Edge] = []
        for (edge, theirs) in incoming.edges {
            let ours = merged.edges[edge]
            let winner = ours?.merged(with: theirs) ?? theirs
            guard winner != ours else { continue }
            merged.edges[edge] = winner
            if winner.isPresent || ours?.isPresent == true { changedEdges.append(edge) }
        }
        var rest = incoming
        rest.properties = [:]
        rest.edges = [:]
        merged.merge(rest)
        state = merged
        self.changed = changed.sorted()
        self.changedEdges = changedEdges.sorted()
        self.losses = losses.sorted { $0.property < $1.property }
    }
}

extension PropertyState {
    /// Whether one writer's value counts, and not parts of several.
    package var isPlain: Bool {
        switch self {
        case .counter, .elements: false
        default: true
        }
    }

    /// The value; of a counter and of elements `nil`, since it is made of several.
    package var value: SyncValue? {
        switch self {
        case .last(_, let value), .minimum(_, let value), .maximum(_, let value): value
        case .minima(let candidates), .maxima(let candidates): candidates.first?.value
        case .counter, .elements: nil
        }
    }

    /// The state of an object that exists again: the value from before its deletion counts as if it were written
    /// directly after.
    ///
    /// - Parameter stamp: of a time after the deletion. Contributions to a sum get its time, and stay those of their
    ///   devices: two devices that announce an object again say the same.
    package func restored(after deleted: Stamp, at stamp: Stamp) -> Self {
        switch self {
        case .last(let written, let value): return written <= deleted ? .last(stamp, value) : self
        case .minimum, .minima: return restored(isMinimum: true, after: deleted, at: stamp)
        case .maximum, .maxima: return restored(isMinimum: false, after: deleted, at: stamp)
        case .counter(let parts):
            return .counter(
                Dictionary(
                    uniqueKeysWithValues: parts.map { device, part in
                        let isBefore = Stamp(ticks: part.ticks, device: device) <= deleted
                        return (device, isBefore ? Contribution(ticks: stamp.ticks, amount: part.amount) : part)
                    }))
        case .elements(let kind, let set): return .elements(kind, set.restored(after: deleted, at: stamp))
        }
    }

    private func restored(isMinimum: Bool, after deleted: Stamp, at stamp: Stamp) -> Self {
        guard let first = candidates.first, first.stamp <= deleted else { return self }
        return Self(isMinimum: isMinimum, candidates.filter { $0.stamp > deleted } + [Candidate(stamp, first.value)])
    }

    /// The state with its value left to the store. Other kinds keep theirs, since they merge by value.
    package var stored: Self {
        switch self {
        case .last(let stamp, _): .last(stamp, .stored)
        case .minimum, .minima, .maximum, .maxima, .counter, .elements: self
        }
    }
}

extension ObjectState.Edge: Comparable {
    package static func < (a: Self, b: Self) -> Bool {
        a.relationship == b.relationship
            ? a.destination < b.destination : a.relationship.utf8.lexicographicallyPrecedes(b.relationship.utf8)
    }
}
