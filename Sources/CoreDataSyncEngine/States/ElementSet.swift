/// A set of elements that several devices add to and remove from: an observed-remove set with a causal context.
///
/// An element is removed where a device knows its stamp and does not have it. So no tombstones are kept:
///
///     device 1: {milk₁, bread₁}, knows 1 ≤ 5        device 2 removes bread and adds eggs: {milk₁, eggs₂}, knows 1 ≤ 5, 2 ≤ 7
///     merged:   {milk₁, eggs₂}, knows 1 ≤ 5, 2 ≤ 7
///
/// For each element that may exist, a set knows nothing, has it, or knows that it was removed, in this order; a merge
/// takes the later of two of these. So merging is commutative, associative and idempotent. It requires that a set knows
/// the stamps of all its elements (``init(_:known:bases:)`` sees to it), and that a device sends the whole set whenever
/// it changes it.
package struct ElementSet: Hashable, Sendable {
    package struct Element: Hashable, Sendable {
        /// When it was added. Elements that one capture adds have equal stamps.
        package var stamp: Stamp
        /// Where it stands among the others; see ``Position``.
        package var position: String
        package var value: SyncValue

        package init(_ stamp: Stamp, _ position: String, _ value: SyncValue) {
            (self.stamp, self.position, self.value) = (stamp, position, value)
        }
    }

    package private(set) var elements: Set<Element>
    /// The ticks up to which the writes of each device are known.
    package private(set) var known: [DeviceID: UInt64]
    /// Which values from before a store was attached the first edits of devices began with; empty before the first
    /// edit.
    package private(set) var bases: Set<Stamp>

    package init(
        _ elements: some Sequence<Element> = [], known: [DeviceID: UInt64] = [:], bases: Set<Stamp> = []
    ) {
        (self.elements, self.known, self.bases) = (Set(elements), known, bases)
        for element in self.elements { know(element.stamp) }
    }

    private mutating func know(_ stamp: Stamp) { known[stamp.device] = max(known[stamp.device] ?? 0, stamp.ticks) }

    private func knows(_ stamp: Stamp) -> Bool { known[stamp.device].map { $0 >= stamp.ticks } ?? false }

    /// The stamp of the last change.
    package var stamp: Stamp? { known.map { Stamp(ticks: $0.value, device: $0.key) }.max() }

    package func merged(with other: Self) -> Self {
        var result = self
        result.elements = elements.filter { other.elements.contains($0) || !other.knows($0.stamp) }
        for element in other.elements where !knows(element.stamp) { result.elements.insert(element) }
        result.known.merge(other.known) { max($0, $1) }
        result.bases.formUnion(other.bases)
        return result
    }

    /// The set without elements that were added at a time or before.
    package func elements(after floor: Stamp?) -> Self {
        guard let floor else { return self }
        var result = self
        result.elements = elements.filter { $0.stamp > floor }
        return result
    }

    /// The set of an object that exists again: elements from before its deletion count as if they were added directly
    /// after.
    ///
    /// - Parameter stamp: of a time after the deletion.
    package func restored(after deleted: Stamp, at stamp: Stamp) -> Self {
        var result = self
        result.elements = Set(elements.map { $0.stamp > deleted ? $0 : Element(stamp, $0.position, $0.value) })
        result.know(stamp)
        return result
    }

    /// The set after a write of a device that knows all of it.
    package func replaced(by elements: [Element], at stamp: Stamp) -> Self {
        var result = Self(elements, known: known, bases: bases)
        result.know(stamp)
        if bases.isEmpty, !stamp.isSeed { result.bases = [prevailingSeed ?? Self.noBase] }
        return result
    }

    private static let noBase = Stamp(ticks: 0, device: DeviceID(high: 0, low: 0))

    private var prevailingSeed: Stamp? { elements.lazy.map(\.stamp).filter(\.isSeed).max() }

    /// The elements that count, in the order of their positions.
    ///
    /// Values from before a store was attached are older than every edit: those that no edit began with count only if
    /// there is no edit, and then only those of the device that prevails.
    package var counted: [Element] {
        let counted = bases.isEmpty ? Set([prevailingSeed].compactMap { $0 }) : bases
        return inOrder.filter { !$0.stamp.isSeed || counted.contains($0.stamp) }
    }

    /// The elements in the order of their positions.
    package var inOrder: [Element] {
        elements.sorted { a, b in
            if a.position != b.position { return Position.precedes(a.position, b.position) }
            if a.value != b.value { return a.value.precedes(b.value) }
            return a.stamp < b.stamp
        }
    }
}
