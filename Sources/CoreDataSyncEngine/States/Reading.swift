/// What wins where an object was deleted on one device and edited on another, without one having seen the other.
package enum DeletionRule: String, Sendable {
    /// The deletion wins; the edit goes into the journal. The default.
    case deleteWins
    /// The later one wins: an edit after the deletion brings the object back.
    case editWins
}

/// What a merged state means: the same on every device that has the same state.
extension ObjectState {
    /// Whether the object exists.
    package func exists(_ rule: DeletionRule) -> Bool {
        guard let deleted else { return created != nil }
        if let created, created > deleted { return true }
        guard rule == .editWins else { return false }
        return properties.values.contains { $0.stamp > deleted }
            || edges.values.contains { $0.added.map { $0 > deleted } ?? false }
    }

    /// Whether the object was created after it was last deleted: a device that does not have it creates it.
    package var isAlive: Bool {
        guard let created else { return false }
        return deleted.map { created > $0 } ?? true
    }

    /// Whether a device that still has the object is to announce it again, because it was edited after its deletion.
    ///
    /// A device without the object cannot: it has only the values that were edited.
    package func isRevived(by rule: DeletionRule) -> Bool { !isAlive && deleted != nil && exists(rule) }

    /// Whether a property's state still counts: values from before a deletion do not come back with an object that was
    /// created again.
    package func counts(_ state: PropertyState, _ rule: DeletionRule) -> Bool {
        state.counted(after: floor(rule)) != nil
    }

    /// The properties that count, each without the parts of its state that do not.
    package func counted(_ rule: DeletionRule) -> PropertyTable {
        let floor = floor(rule)
        return properties.compactMapValues { $0.counted(after: floor) }
    }

    /// The pairs that exist and count, with the positions that count.
    package func countedEdges(_ rule: DeletionRule) -> [Edge: EdgeState] {
        let floor = floor(rule)
        return edges.compactMapValues { edge in
            guard edge.isPresent, let added = edge.added, floor.map({ added > $0 }) ?? true else { return nil }
            var result = EdgeState(added: added, removed: edge.removed)
            if let floor, let removed = edge.removed, removed <= floor { result.removed = nil }
            result.position = edge.position?.counted(after: floor)
            result.inversePosition = edge.inversePosition?.counted(after: floor)
            return result
        }
    }

    /// The state without values that can no longer count. Merging compacted states means the same as merging whole
    /// ones.
    package func compacted(_ rule: DeletionRule) -> Self {
        guard let floor = floor(rule) else { return self }
        var result = self
        result.properties = properties.compactMapValues { $0.compacted(after: floor) }
        result.edges = edges.compactMapValues { $0.compacted(after: floor) }
        return result
    }

    /// Values with this stamp or an earlier one do not count.
    package func floor(_ rule: DeletionRule) -> Stamp? { rule == .deleteWins ? deleted : nil }
}

extension PropertyState {
    /// The part of the state that counts if the object was last deleted at a time: of a minimum or maximum the value
    /// that wins.
    package func counted(after floor: Stamp?) -> Self? {
        switch self {
        case .last(let stamp, _), .minimum(let stamp, _), .maximum(let stamp, _):
            return floor.map { stamp > $0 } ?? true ? self : nil
        case .minima(let candidates), .maxima(let candidates):
            guard let winner = candidates.first(where: { candidate in floor.map { candidate.stamp > $0 } ?? true })
            else { return nil }
            if case .minima = self { return .minimum(winner.stamp, winner.value) }
            return .maximum(winner.stamp, winner.value)
        case .counter(let parts):
            let counted = floor.map { Self.contributions(parts, after: $0) } ?? parts
            return counted.isEmpty ? nil : .counter(counted)
        case .elements(let kind, let set):
            guard let last = set.stamp, floor.map({ last > $0 }) ?? true else { return nil }
            return .elements(kind, set.elements(after: floor))
        }
    }

    /// The state without what no longer counts. Its kind stays, because it wins over other kinds.
    fileprivate func compacted(after floor: Stamp) -> Self? {
        switch self {
        case .last(let stamp, _): stamp > floor ? self : nil
        case .minimum, .minima: Self(isMinimum: true, candidates.filter { $0.stamp > floor })
        case .maximum, .maxima: Self(isMinimum: false, candidates.filter { $0.stamp > floor })
        case .counter(let parts): .counter(Self.contributions(parts, after: floor))
        case .elements(let kind, let set): .elements(kind, set.elements(after: floor))
        }
    }

    private static func contributions(
        _ parts: [DeviceID: Contribution], after floor: Stamp
    ) -> [DeviceID: Contribution] {
        parts.filter { Stamp(ticks: $0.value.ticks, device: $0.key) > floor }
    }
}

extension EdgeState {
    fileprivate func compacted(after floor: Stamp) -> Self? {
        var result = self
        if let added, added <= floor { result.added = nil }
        if let removed, removed <= floor { result.removed = nil }
        result.position = position?.compacted(after: floor)
        result.inversePosition = inversePosition?.compacted(after: floor)
        return result == EdgeState() ? nil : result
    }
}
